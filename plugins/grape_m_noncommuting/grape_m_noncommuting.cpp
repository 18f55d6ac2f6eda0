// GRAPE-M, non-commuting: one generator whose planes overlap, so that its parts do not commute. It is still one
// generator: the relative law is exact.
//
//   thin     L = E Lr E^T, E the first r columns of exp(S), Lr skew [r, r];  G(p) = I + E (exp(p Lr) - I) E^T
//   planes   L = sum_m omega_m (a_m b_m^T - b_m a_m^T);                      G(p) = exp(p L), of rank 2M at most
//   q~ = G(p_i) q,  k~ = G(p_j) k
//
// Disjoint coordinate planes turn clockwise: RoPE with the angles' sign changed. One decomposition per head when a tensor
// changes, O(rD) per token after it. Derivatives go through exp (common/skew.hpp), never through eigenvectors.
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, appendix D.
#include <common/spectral_turn.hpp>

#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

#include <optional>

namespace sextant::plugins {
using Complex = std::complex<double>;

/// The pieces that both forms share: blocks of tokens, positions, sums per head.
template <class T>
class GeneratorTransform : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  using Frame = typename SpectralTurn<T>::Frame;

  void prepare(Exec const& exec, Inputs const& in) override {
    bool const same = in.tensors == in_.tensors && in.channels == in_.channels;
    in_ = in;
    if (!same) {
      turns_.assign(in.heads, {});
      spectra_.assign(in.heads, {});
      resize();
      for_each_index(exec, in.heads, [this](std::int64_t h) { decompose(static_cast<int>(h)); });
    }
    if (in.want_gradient) sums_.reset(in.batch, in.heads, in.kv_heads, sum_width());
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    Frame scratch(turns_[h]->cols());
    auto const position = positions(b);
    for (int first = 0; first < in_.count; first += token_block)
      turns_[h]->apply(in + first * in_stride, in_stride, &position[first], 1, rows_from(first),
                       out + first * out_stride, out_stride, scratch);
  }

 protected:
  virtual void resize() {}
  virtual void decompose(int h) = 0;  ///< fills turns_[h] and spectra_[h]
  virtual std::size_t sum_width() const = 0;

  std::size_t dim() const { return static_cast<std::size_t>(in_.channels); }
  int rows_from(int first) const { return std::min(token_block, in_.count - first); }
  std::vector<double> positions(int b) const {
    std::vector<double> out(in_.count);
    for (int i = 0; i < in_.count; ++i) out[i] = *in_.at(b, i);
    return out;
  }
  /// A matrix of complex sums lies in a row of sums_ as pairs of numbers.
  static Complex* complex_at(double* sums) { return reinterpret_cast<Complex*>(sums); }

  Inputs in_;
  std::vector<std::optional<SpectralTurn<T>>> turns_;  // one a head
  std::vector<SkewSpectrum> spectra_;
  PartialSums sums_;
};

/// Tensors: basis_upper [H, D(D-1)/2], gen_upper [H, r(r-1)/2].
template <class T>
class ThinTransform final : public GeneratorTransform<T> {
  using Base = GeneratorTransform<T>;
  using Base::in_, Base::turns_, Base::spectra_, Base::sums_, Base::dim;
  using typename Base::Frame;

 public:
  explicit ThinTransform(int rank) : rank_(rank) {}

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    auto const& turn = *turns_[h];
    auto const position = this->positions(b);
    double *const k = sums_.at(side, b, h), *const of_frame = k + 2 * rank_ * rank_;
    Frame x(rank_), g(rank_);
    std::vector<T> moved(token_block * rank_), part(dim() * rank_);
    for (int first = 0; first < in_.count; first += token_block) {
      int const rows = this->rows_from(first);
      T const *at_x = in + first * in_stride, *at_g = grad_out + first * grad_out_stride;
      turn.enter(at_x, in_stride, rows, rank_, x);
      turn.enter(at_g, grad_out_stride, rows, rank_, g);
      turn.collect(g, x, &position[first], rows, Base::complex_at(k));
      // y = x + E w: E's gradient is g w^T + x v^T with w = (exp(p Lr) - 1) E^T x and v = (exp(-p Lr) - 1) E^T g.
      turn.turn(&position[first], 1, rows, rank_, x);
      to_generator(h, x, rows, moved.data());
      kernels::small_tn<T>(at_g, grad_out_stride, in_.channels, moved.data(), rank_, rank_, rows, T(1), part.data(),
                           rank_);
      turn.turn(&position[first], -1, rows, rank_, g);
      to_generator(h, g, rows, moved.data());
      kernels::small_tn<T>(at_x, in_stride, in_.channels, moved.data(), rank_, rank_, rows, T(1), part.data(), rank_,
                           true);
      for (std::size_t c = 0; c < part.size(); ++c) of_frame[c] += part[c];
      T* const out = grad_in + first * grad_in_stride;
      for (int i = 0; i < rows; ++i) std::copy_n(at_g + i * grad_out_stride, dim(), out + i * grad_in_stride);
      turn.leave(g, rows, rank_, out, grad_in_stride);
    }
  }

  void finish(Tensors& gradient) override {
    for (int h = 0; h < in_.heads; ++h) {
      auto sum = sums_.total(h, true);
      std::vector<double> of_generator(rank_ * rank_, 0.0), of_basis(dim() * dim(), 0.0), of_skew(dim() * dim(), 0.0);
      add_skew_gradient(spectra_[h], Base::complex_at(sum.data()), of_generator.data());
      add_upper_gradient(of_generator.data(), rank_, 1, gradient[1].data() + h * upper_count(rank_));
      for (std::size_t c = 0; c < dim(); ++c)
        std::copy_n(&sum[2 * rank_ * rank_ + c * rank_], rank_, &of_basis[c * dim()]);
      add_skew_exp_gradient(bases_[h], 1, of_basis.data(), of_skew.data());
      add_upper_gradient(of_skew.data(), in_.channels, 1, gradient[0].data() + h * upper_count(in_.channels));
    }
  }

 private:
  std::size_t sum_width() const override { return 2 * rank_ * rank_ + dim() * rank_; }
  void resize() override {
    bases_.assign(in_.heads, {});
    generator_re_.assign(in_.heads, {});
    generator_im_.assign(in_.heads, {});
  }
  void decompose(int h) override {
    int const n = in_.channels;
    std::vector<double> e(dim() * dim()), s(dim() * dim()), lr(rank_ * rank_);
    skew_from_upper(in_.tensors[0].data() + h * upper_count(n), n, s.data());
    bases_[h] = skew_spectrum(s.data(), n);
    skew_exp(bases_[h], 1, e.data());
    skew_from_upper(in_.tensors[1].data() + h * upper_count(rank_), rank_, lr.data());
    spectra_[h] = skew_spectrum(lr.data(), rank_);
    auto const& u = spectra_[h].vector;
    std::vector<Complex> w(dim() * rank_, 0.0);
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < rank_; ++c)
        for (int a = 0; a < rank_; ++a) w[i * rank_ + a] += e[i * n + c] * u[c * rank_ + a];
    turns_[h].emplace(spectra_[h].frequency, w, n, rank_);
    for (auto const& v : u) {
      generator_re_[h].push_back(static_cast<T>(v.real()));
      generator_im_[h].push_back(static_cast<T>(v.imag()));
    }
  }
  /// out[rows, r] = Re(U frame): from the eigenvectors' frame to E's.
  void to_generator(int h, Frame const& frame, int rows, T* out) const {
    kernels::small_nt<T>(frame.re.data(), rank_, rows, generator_re_[h].data(), rank_, rank_, rank_, T(1), out, rank_);
    kernels::small_nt<T>(frame.im.data(), rank_, rows, generator_im_[h].data(), rank_, rank_, rank_, T(-1), out, rank_,
                         true);
  }

  int rank_;
  std::vector<SkewSpectrum> bases_;
  std::vector<std::vector<T>> generator_re_, generator_im_;  // U [r, r] of each head
};

/// Tensors: a and b [H, M, D], omega [H, M].
template <class T>
class PlanesTransform final : public GeneratorTransform<T> {
  using Base = GeneratorTransform<T>;
  using Base::in_, Base::turns_, Base::spectra_, Base::sums_, Base::dim;
  using typename Base::Frame;

 public:
  explicit PlanesTransform(int planes) : planes_(planes) {}

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    auto const& turn = *turns_[h];
    auto const position = this->positions(b);
    double* const k = sums_.at(side, b, h);
    Frame x(in_.channels), g(in_.channels), scratch(in_.channels);
    for (int first = 0; first < in_.count; first += token_block) {
      int const rows = this->rows_from(first);
      T const *at_x = in + first * in_stride, *at_g = grad_out + first * grad_out_stride;
      turn.enter(at_x, in_stride, rows, in_.channels, x);
      turn.enter(at_g, grad_out_stride, rows, in_.channels, g);
      turn.collect(g, x, &position[first], rows, Base::complex_at(k));
      turn.apply(at_g, grad_out_stride, &position[first], -1, rows, grad_in + first * grad_in_stride, grad_in_stride,
                 scratch);
    }
  }

  void finish(Tensors& gradient) override {
    std::size_t const n = dim();
    for (int h = 0; h < in_.heads; ++h) {
      auto sum = sums_.total(h, true);
      std::vector<double> of_generator(n * n, 0.0);
      add_skew_gradient(spectra_[h], Base::complex_at(sum.data()), of_generator.data());
      for (int m = 0; m < planes_; ++m) {
        std::size_t const plane = static_cast<std::size_t>(h) * planes_ + m;
        double const *a = &in_.tensors[0][plane * n], *b = &in_.tensors[1][plane * n], omega = in_.tensors[2][plane];
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            double const d = of_generator[i * n + j] - of_generator[j * n + i];
            gradient[0][plane * n + i] += omega * d * b[j];
            gradient[1][plane * n + i] -= omega * d * a[j];
            gradient[2][plane] += a[i] * d * b[j];
          }
      }
    }
  }

 private:
  std::size_t sum_width() const override { return 2 * dim() * dim(); }
  void decompose(int h) override {
    std::size_t const n = dim();
    std::vector<double> l(n * n, 0.0);
    for (int m = 0; m < planes_; ++m) {
      std::size_t const plane = static_cast<std::size_t>(h) * planes_ + m;
      double const *a = &in_.tensors[0][plane * n], *b = &in_.tensors[1][plane * n], omega = in_.tensors[2][plane];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) l[i * n + j] += omega * (a[i] * b[j] - b[i] * a[j]);
    }
    spectra_[h] = skew_spectrum(l.data(), in_.channels);
    turns_[h].emplace(spectra_[h].frequency, spectra_[h].vector, in_.channels, std::min(2 * planes_, in_.channels));
  }

  int planes_;
};

enum class Form { thin, planes };

struct GrapeMNoncommuting {
  Form form = Form::thin;
  std::optional<int> rank, planes;
  double base = 10000;

  static constexpr char const* summary =
      "one trained generator of low rank (GRAPE's non-commuting multiplicative form)";
  static constexpr char const* formula = "G(p) = exp(p L), L = E Lr E^T or sum_m omega_m (a_m b_m^T - b_m a_m^T)";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;

  static auto schema() {
    return Schema<GrapeMNoncommuting>{}
        .choice("form", &GrapeMNoncommuting::form, "a generator inside r directions, or a sum over M planes",
                {{"thin", Form::thin}, {"planes", Form::planes}})
        .option("rank", &GrapeMNoncommuting::rank, "thin: directions that the generator turns", at_least(2),
                Unit{"channels"}, MayBeAuto{"head_dim"})
        .option("planes", &GrapeMNoncommuting::planes, "planes: how many, overlapping or not", at_least(1),
                MayBeAuto{"head_dim / 2"})
        .option("base", &GrapeMNoncommuting::base, "theta of the ladder that the frequencies start from", above(1));
  }

  int turned(Shape const& shape) const { return rank.value_or(shape.head_dim); }
  int plane_count(Shape const& shape) const { return planes.value_or(shape.head_dim / 2); }

  void check(Shape const& shape) const {
    expect_equal_heads("grape_m_noncommuting", shape);
    expect(shape.head_dim >= 2, "grape_m_noncommuting needs a plane, and head_dim is ", shape.head_dim,
           ", expected at least 2");
    expect(form == Form::thin || !rank, "grape_m_noncommuting.rank is for form thin, and form is planes");
    expect(form == Form::planes || !planes, "grape_m_noncommuting.planes is for form planes, and form is thin");
    expect(turned(shape) <= shape.head_dim, "grape_m_noncommuting.rank is ", turned(shape),
           ", expected at most head_dim ", shape.head_dim);
  }

  /// Starts as RoPE turned clockwise: coordinate planes (2m, 2m+1) with the ladder base^(-2m/n).
  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const heads = shape.heads, n = shape.head_dim;
    if (form == Form::thin) {
      std::size_t const r = turned(shape);
      auto const start = [r, base = base](Stream const&, std::size_t i) {
        std::size_t at = i % upper_count(static_cast<int>(r)), row = 0;
        for (; at >= r - 1 - row; ++row) at -= r - 1 - row;  // the row of the triangle, then the place in it
        return at == 0 && row % 2 == 0 ? ladder(base, static_cast<int>(row / 2), static_cast<int>(r)) : 0.0;
      };
      return {{"basis_upper", {heads, upper_count(shape.head_dim)}, [](Stream const&, std::size_t) { return 0.0; }},
              {"gen_upper", {heads, upper_count(static_cast<int>(r))}, start}};
    }
    std::size_t const m = plane_count(shape);
    auto const unit = [n, m](std::size_t side) {
      return [n, m, side](Stream const&, std::size_t i) { return i % n == (2 * (i / n % m) + side) % n ? 1.0 : 0.0; };
    };
    auto const start = [m, base = base](Stream const&, std::size_t i) {
      return ladder(base, static_cast<int>(i % m), static_cast<int>(2 * m));
    };
    return {{"a", {heads, m, n}, unit(0)}, {"b", {heads, m, n}, unit(1)}, {"omega", {heads, m}, start}};
  }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const& shape) const {
    if (form == Form::thin) return std::make_unique<ThinTransform<T>>(turned(shape));
    return std::make_unique<PlanesTransform<T>>(plane_count(shape));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeMNoncommuting, "grape_m_noncommuting", "arXiv:2512.07805")
