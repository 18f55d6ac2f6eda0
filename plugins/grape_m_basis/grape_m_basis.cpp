// GRAPE-M with a learned basis: RoPE's turns, in planes that are trained instead of given by the channels.
//
//   G(p) = E blockdiag(R(o p theta_f)) E^T,  E = exp(S) in SO(D),  theta_f = exp(log_freq_f),  adjacent channels pair up
//   q~ = G(p_i) q,  k~ = G(p_j) k
//
// S is the skew matrix of D(D-1)/2 trained numbers. One exponential per head when S changes; per token two products
// with E and a turn of pairs. The derivative goes through exp (common/skew.hpp), never through eigenvectors.
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 3.1 and algorithm 1.
#include <common/partial_sums.hpp>
#include <common/skew.hpp>
#include <sextant/encoding/ladder.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {

template <class T>
class BasisTransform final : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  BasisTransform(bool per_head, int orientation) : per_head_(per_head), orientation_(orientation) {}

  void prepare(Exec const& exec, Inputs const& in) override {
    bool const same = in.tensors == in_.tensors && in.channels == in_.channels;
    in_ = in;
    if (!same) decompose(exec);
    form_turns();
    if (in.want_gradient) sums_.reset(in.batch, in.heads, in.kv_heads, dim() * dim() + pairs());
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    int const n = in_.channels;
    T const* e = basis(h);
    std::vector<T> z(token_block * dim());
    for (int first = 0; first < in_.count; first += token_block) {
      int const rows = std::min(token_block, in_.count - first);
      kernels::small_nn<T>(in + first * in_stride, in_stride, rows, e, n, n, n, T(1), z.data(), n);
      turn(b, first, rows, z.data(), T(1));
      kernels::small_nt<T>(z.data(), n, rows, e, n, n, n, T(1), out + first * out_stride, out_stride);
    }
  }

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    int const n = in_.channels;
    T const* e = basis(h);
    double *const basis_sum = sums_.at(side, b, h), *const freq_sum = basis_sum + dim() * dim();
    std::vector<T> z(token_block * dim()), dz(z.size()), part(dim() * dim());
    for (int first = 0; first < in_.count; first += token_block) {
      int const rows = std::min(token_block, in_.count - first);
      T const *x = in + first * in_stride, *g = grad_out + first * grad_out_stride;
      kernels::small_nn<T>(x, in_stride, rows, e, n, n, n, T(1), z.data(), n);
      turn(b, first, rows, z.data(), T(1));
      kernels::small_nn<T>(g, grad_out_stride, rows, e, n, n, n, T(1), dz.data(), n);
      for (int i = 0; i < rows; ++i)
        for (int f = 0; f < pairs(); ++f) {
          T const *v = &z[i * n + 2 * f], *d = &dz[i * n + 2 * f];
          freq_sum[f] += *in_.at(b, first + i) * (static_cast<double>(d[1]) * v[0] - static_cast<double>(d[0]) * v[1]);
        }
      kernels::small_tn<T>(g, grad_out_stride, n, z.data(), n, n, rows, T(1), part.data(), n);
      turn(b, first, rows, dz.data(), T(-1));
      kernels::small_tn<T>(x, in_stride, n, dz.data(), n, n, rows, T(1), part.data(), n, true);
      for (std::size_t c = 0; c < part.size(); ++c) basis_sum[c] += part[c];
      kernels::small_nt<T>(dz.data(), n, rows, e, n, n, n, T(1), grad_in + first * grad_in_stride, grad_in_stride);
    }
  }

  void finish(Tensors& gradient) override {
    std::size_t const square = dim() * dim(), triangle = upper_count(in_.channels);
    std::vector<double> of_freq(pairs(), 0.0);
    for (int h = 0; h < static_cast<int>(spectra_.size()); ++h) {
      auto const sum = sums_.total(h, per_head_);
      std::vector<double> of_skew(square, 0.0);
      add_skew_exp_gradient(spectra_[h], 1, sum.data(), of_skew.data());
      add_upper_gradient(of_skew.data(), in_.channels, 1, gradient[0].data() + h * triangle);
      for (int f = 0; f < pairs(); ++f) of_freq[f] += sum[square + f];
    }
    for (int f = 0; f < pairs(); ++f) gradient[1][f] += orientation_ * std::exp(in_.tensors[1][f]) * of_freq[f];
  }

 private:
  std::size_t dim() const { return static_cast<std::size_t>(in_.channels); }
  int pairs() const { return in_.channels / 2; }
  T const* basis(int h) const { return basis_.data() + (per_head_ ? h : 0) * dim() * dim(); }

  void decompose(Exec const& exec) {
    int const n = in_.channels;
    std::size_t const square = dim() * dim(), triangle = upper_count(n);
    spectra_.assign(per_head_ ? in_.heads : 1, {});
    basis_.resize(spectra_.size() * square);
    for_each_index(exec, static_cast<std::int64_t>(spectra_.size()), [&, this](std::int64_t h) {
      std::vector<double> s(square);
      skew_from_upper(in_.tensors[0].data() + h * triangle, n, s.data());
      spectra_[h] = skew_spectrum(s.data(), n);
      skew_exp(spectra_[h], 1, s.data());
      for (std::size_t c = 0; c < square; ++c) basis_[h * square + c] = static_cast<T>(s[c]);
    });
  }

  void form_turns() {
    std::size_t const sets = in_.coordinates.extent(0);
    cos_.resize(sets * in_.count * pairs());
    sin_.resize(cos_.size());
    std::vector<double> theta;
    for (double log_freq : in_.tensors[1]) theta.push_back(orientation_ * std::exp(log_freq));
    std::size_t at = 0;
    for (std::size_t set = 0; set < sets; ++set)
      for (int i = 0; i < in_.count; ++i)
        for (int f = 0; f < pairs(); ++f, ++at) {
          double const angle = in_.coordinates(set, i, 0) * theta[f];
          cos_[at] = static_cast<T>(std::cos(angle));
          sin_[at] = static_cast<T>(std::sin(angle));
        }
  }
  void turn(int b, int first, int rows, T* z, T sense) const {
    std::size_t const row = (in_.coordinates.extent(0) > 1 ? b : 0) * static_cast<std::size_t>(in_.count) + first;
    T const *c = &cos_[row * pairs()], *s = &sin_[row * pairs()];
    for (int i = 0; i < rows; ++i)
      for (int f = 0; f < pairs(); ++f, ++c, ++s) {
        T* const v = z + i * in_.channels + 2 * f;
        T const before = v[0];
        v[0] = before * *c - v[1] * sense * *s;
        v[1] = v[1] * *c + before * sense * *s;
      }
  }

  bool per_head_;
  int orientation_;
  Inputs in_;
  std::vector<SkewSpectrum> spectra_;
  std::vector<T> basis_;      // [heads or 1, D, D]
  std::vector<T> cos_, sin_;  // [sets, count, D / 2]
  PartialSums sums_;
};

enum class Turn { counter_clockwise, clockwise };

struct GrapeMBasis {
  double base = 10000;
  bool per_head = true;
  Turn turn = Turn::counter_clockwise;

  static constexpr char const* summary = "RoPE in a trained basis (GRAPE's commuting multiplicative form)";
  static constexpr char const* formula = "G(p) = E blockdiag(R(p theta_f)) E^T, E = exp(S); theta and S trained";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;

  static auto schema() {
    return Schema<GrapeMBasis>{}
        .option("base", &GrapeMBasis::base, "theta of the ladder that the frequencies start from", above(1))
        .option("per_head", &GrapeMBasis::per_head, "a basis of its own for every head")
        .choice("orientation", &GrapeMBasis::turn, "sense of the turn",
                {{"counter_clockwise", Turn::counter_clockwise}, {"clockwise", Turn::clockwise}});
  }

  void check(Shape const& shape) const {
    if (per_head) expect_equal_heads("grape_m_basis", shape);
    expect(shape.head_dim % 2 == 0, "grape_m_basis turns pairs of channels, and head_dim is ", shape.head_dim,
           ", expected an even number");
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const n = shape.head_dim;
    auto const start = [base = base, n](Stream const&, std::size_t f) {
      return std::log(ladder(base, static_cast<int>(f), static_cast<int>(n)));
    };
    return {{"basis_upper",
             {per_head ? static_cast<std::size_t>(shape.heads) : 1, upper_count(shape.head_dim)},
             [](Stream const&, std::size_t) { return 0.0; },
             true,
             per_head},
            {"log_freq", {n / 2}, start, true, false}};
  }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const&) const {
    return std::make_unique<BasisTransform<T>>(per_head, turn == Turn::clockwise ? -1 : 1);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeMBasis, "grape_m_basis", "arXiv:2512.07805")
