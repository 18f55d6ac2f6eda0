// FoPE, Fourier position embedding: RoPE whose cosine and sine of each pair become Fourier series over the frequencies
// that complete a period within the trained length.
//
//   omega_k = base^(-2k/n), k < K: those with omega_k >= 2 pi / trained_length
//   C_m(p) = sum_k A_km cos(omega_k p),  S_m(p) = sum_k B_km sin(omega_k p)
//   (x, y) -> (x C_m - y S_m, y C_m + x S_m) on query and key alike
//
// form paper: pair m < K starts at its own frequency and the others stand still (C = 1, S = 0, the zero frequency).
// form code, as released: at most half of the pairs carry a series, pair m starts at frequency m ceil(K / pairs), and the
// rest have C = S = 1, since the release fills both with ones: a turn by 45 degrees, longer by sqrt(2).
// A and B start at the identity (or the release's sparse one) plus Xavier noise. Neither norms nor the relative law hold.
//
// Source: Hua et al., "Fourier Position Embedding", arXiv:2412.17739, and its released code.
#include <common/partial_sums.hpp>
#include <sextant/encoding/ladder.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {
enum class FopeForm { paper, code };

/// How many frequencies, how many pairs with a series of them, and how it starts.
struct FopePlan {
  FopeForm form = FopeForm::paper;
  Layout layout = Layout::half;
  int pairs = 0;                  ///< of the head
  std::vector<double> frequency;  ///< those that are kept, falling
  int series = 0;                 ///< pairs 0 .. series - 1 carry a series
  bool per_head = true, separate = true, normalize = false, trains = true;
  double gain = 0;
  std::uint64_t seed = 0;

  int kept() const { return static_cast<int>(frequency.size()); }
  std::size_t size() const { return static_cast<std::size_t>(kept()) * series; }
  /// Where pair m's series starts.
  int first_frequency(int m) const {
    return form == FopeForm::paper ? m : m * ((kept() + series - 1) / std::max(1, series));
  }
  double start(Stream const& stream, std::size_t i) const {
    int const k = static_cast<int>(i % size() / series), m = static_cast<int>(i % series);
    return (first_frequency(m) == k ? 1.0 : 0.0) + gain * std::sqrt(2.0 / (kept() + series)) * stream.normal(i);
  }
};

template <class T>
class FopeTransform final : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  explicit FopeTransform(FopePlan plan) : plan_(std::move(plan)) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    int const kept = plan_.kept();
    std::size_t const sets = in.coordinates.extent(0), points = sets * in.count;
    wave_cos_.resize(points * kept);
    wave_sin_.resize(points * kept);
    for (std::size_t n = 0; n < points; ++n)
      for (int k = 0; k < kept; ++k) {
        double const angle = in.coordinates(n / in.count, n % in.count, 0) * plan_.frequency[k];
        wave_cos_[n * kept + k] = static_cast<T>(std::cos(angle));
        wave_sin_[n * kept + k] = static_cast<T>(std::sin(angle));
      }
    T const still = plan_.form == FopeForm::code ? T(1) : T(0);
    cos_.assign(rows() * points * plan_.pairs, T(1));
    sin_.assign(cos_.size(), still);
    std::vector<T> coefficient(plan_.size());
    for (std::size_t r = 0; plan_.size() > 0 && r < rows(); ++r)
      for (int side = 0; side < 2; ++side) {
        auto const c = normal_form(coefficients(side, r));
        for (std::size_t n = 0; n < c.size(); ++n) coefficient[n] = static_cast<T>(c[n]);
        kernels::small_nn<T>(side ? wave_sin_.data() : wave_cos_.data(), kept, static_cast<int>(points),
                             coefficient.data(), plan_.series, plan_.series, kept, T(1),
                             (side ? sin_ : cos_).data() + r * points * plan_.pairs, plan_.pairs);
      }
    if (in.want_gradient && plan_.trains) sums_.reset(in.batch, in.heads, in.kv_heads, 2 * plan_.size());
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    for (int i = 0; i < in_.count; ++i) {
      T const *x = in + i * in_stride, *c = &cos_[at(b, i, h)], *s = &sin_[at(b, i, h)];
      T* y = out + i * out_stride;
      for (int m = 0; m < plan_.pairs; ++m) {
        y[first(m)] = x[first(m)] * c[m] - x[second(m)] * s[m];
        y[second(m)] = x[second(m)] * c[m] + x[first(m)] * s[m];
      }
      for (int rest = 2 * plan_.pairs; rest < in_.channels; ++rest) y[rest] = x[rest];
    }
  }

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    for (int i = 0; i < in_.count; ++i) {
      T const *g = grad_out + i * grad_out_stride, *c = &cos_[at(b, i, h)], *s = &sin_[at(b, i, h)];
      T* dx = grad_in + i * grad_in_stride;
      for (int m = 0; m < plan_.pairs; ++m) {
        dx[first(m)] = g[first(m)] * c[m] + g[second(m)] * s[m];
        dx[second(m)] = g[second(m)] * c[m] - g[first(m)] * s[m];
      }
      for (int rest = 2 * plan_.pairs; rest < in_.channels; ++rest) dx[rest] = g[rest];
    }
    if (plan_.trains && plan_.size() > 0) collect(side, b, h, in, in_stride, grad_out, grad_out_stride);
  }

  void finish(Tensors& gradient) override {
    if (!plan_.trains || plan_.size() == 0) return;
    for (std::size_t r = 0; r < rows(); ++r) {
      auto const sum = sums_.total(static_cast<int>(r), plan_.per_head);
      for (int side = 0; side < 2; ++side)
        through_norm(coefficients(side, r), sum.data() + side * plan_.size(),
                     gradient[plan_.separate ? side : 0].data() + r * plan_.size());
    }
  }

 private:
  std::size_t rows() const { return plan_.per_head ? in_.heads : 1; }
  int first(int m) const { return plan_.layout == Layout::half ? m : 2 * m; }
  int second(int m) const { return plan_.layout == Layout::half ? m + plan_.pairs : 2 * m + 1; }
  std::size_t point(int b, int i) const {
    return (in_.coordinates.extent(0) > 1 ? b : 0) * static_cast<std::size_t>(in_.count) + i;
  }
  std::size_t at(int b, int i, int h) const {
    std::size_t const points = in_.coordinates.extent(0) * in_.count;
    return ((plan_.per_head ? h : 0) * points + point(b, i)) * plan_.pairs;
  }

  /// A (side 0) or B (side 1) of one row of heads, [kept, series].
  std::vector<double> coefficients(int side, std::size_t row) const {
    std::vector<double> out(plan_.size());
    int const which = plan_.separate ? side : 0;
    Stream const stream(plan_.seed, which ? "fope/sin" : "fope/cos");
    for (std::size_t n = 0; n < out.size(); ++n)
      out[n] = plan_.trains ? in_.tensors[which][row * out.size() + n]
                            : plan_.start(stream, (row + (plan_.per_head ? in_.first_head.index : 0)) * out.size() + n);
    return out;
  }
  std::vector<double> column_sums(std::vector<double> const& c) const {
    std::vector<double> out(plan_.series, plan_.normalize ? 0.0 : 1.0);
    for (std::size_t n = 0; plan_.normalize && n < c.size(); ++n) out[n % plan_.series] += c[n];
    return out;
  }
  std::vector<double> normal_form(std::vector<double> c) const {
    auto const sums = column_sums(c);
    for (std::size_t n = 0; n < c.size(); ++n) c[n] /= sums[n % plan_.series];
    return c;
  }
  /// Adds the gradient of c, given that of its normal form.
  void through_norm(std::vector<double> const& c, double const* of_normal, double* out) const {
    auto const sums = column_sums(c);
    std::vector<double> along(plan_.series, 0.0);
    for (std::size_t n = 0; plan_.normalize && n < c.size(); ++n)
      along[n % plan_.series] += of_normal[n] * c[n] / sums[n % plan_.series];
    for (std::size_t n = 0; n < c.size(); ++n)
      out[n] += (of_normal[n] - along[n % plan_.series]) / sums[n % plan_.series];
  }

  void collect(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
               std::ptrdiff_t grad_out_stride) {
    int const kept = plan_.kept(), series = plan_.series;
    double* const sum = sums_.at(side, b, h);
    std::vector<T> of_cos(static_cast<std::size_t>(token_block) * series), of_sin(of_cos.size()), part(plan_.size());
    for (int begin = 0; begin < in_.count; begin += token_block) {
      int const rows_here = std::min(token_block, in_.count - begin);
      for (int i = 0; i < rows_here; ++i) {
        T const *x = in + (begin + i) * in_stride, *g = grad_out + (begin + i) * grad_out_stride;
        for (int m = 0; m < series; ++m) {
          of_cos[i * series + m] = g[first(m)] * x[first(m)] + g[second(m)] * x[second(m)];
          of_sin[i * series + m] = g[second(m)] * x[first(m)] - g[first(m)] * x[second(m)];
        }
      }
      for (int which = 0; which < 2; ++which) {
        T const* wave = (which ? wave_sin_ : wave_cos_).data() + point(b, begin) * kept;
        kernels::small_tn<T>(wave, kept, kept, (which ? of_sin : of_cos).data(), series, series, rows_here, T(1),
                             part.data(), series);
        for (std::size_t n = 0; n < part.size(); ++n) sum[which * plan_.size() + n] += part[n];
      }
    }
  }

  FopePlan plan_;
  Inputs in_;
  std::vector<T> wave_cos_, wave_sin_;  // [points, kept]
  std::vector<T> cos_, sin_;            // [rows, points, pairs]
  PartialSums sums_;
};

struct Fope {
  FopeForm form = FopeForm::paper;
  double base = 10000;
  std::optional<double> trained_length;
  Layout layout = Layout::half;
  int fourier_dim = 0;
  bool learnable = true, per_head = true, separate_basis = true, normalize = false;
  double gain = 0.3;
  int seed = 1;

  static constexpr char const* summary = "RoPE with a Fourier series in place of each pair's cosine and sine";
  static constexpr char const* formula =
      "(x, y) -> (x C - y S, y C + x S), C_m(p) = sum_k A_km cos(omega_k p), S likewise";

  static std::vector<Example> examples() { return {{{{"trained_length", 256.0}}, {}}}; }

  static auto schema() {
    return Schema<Fope>{}
        .choice("form", &Fope::form, "which pairs carry a series and what the others do: the paper's, or the release's",
                {{"paper", FopeForm::paper}, {"code", FopeForm::code}})
        .option("base", &Fope::base, "theta of the ladder", above(1))
        .option("trained_length", &Fope::trained_length, "frequencies below 2 pi over this are left out", above(0),
                Unit{"tokens"}, MayBeAuto{"the model's context length"})
        .choice("layout", &Fope::layout, "which channels form a pair", layouts())
        .option("fourier_dim", &Fope::fourier_dim, "n of the ladder where it is finer than the head's; 0: head_dim",
                at_least(0), Unit{"channels"})
        .option("learnable", &Fope::learnable,
                "train the coefficients; otherwise they stay as drawn, in all layers alike")
        .option("per_head", &Fope::per_head, "coefficients of their own for every head")
        .option("separate_basis", &Fope::separate_basis, "coefficients of their own for sines")
        .option("normalize", &Fope::normalize, "divide each pair's coefficients by their sum")
        .option("gain", &Fope::gain, "of the Xavier noise around the identity", at_least(0))
        .option("seed", &Fope::seed, "of the coefficients that are not trained", at_least(0));
  }

  double length(Shape const& shape) const { return trained_length.value_or(shape.trained_length); }
  FopePlan plan(Shape const& shape) const {
    FopePlan out{.form = form, .layout = layout, .pairs = shape.head_dim / 2, .per_head = per_head};
    out.separate = separate_basis, out.normalize = normalize, out.trains = learnable, out.gain = gain;
    out.seed = static_cast<std::uint64_t>(seed);
    int const n = std::max(2 * out.pairs, fourier_dim);
    for (int k = 0; k < n / 2; ++k)
      if (double const w = ladder(base, k, n); w >= 2 * std::numbers::pi / length(shape)) out.frequency.push_back(w);
    out.series = std::min(out.kept(), form == FopeForm::paper ? out.pairs : shape.head_dim / 4);
    return out;
  }

  void check(Shape const& shape) const {
    if (per_head) expect_equal_heads("fope", shape);
    expect(length(shape) > 0,
           "fope leaves out frequencies that the training has not completed, and does not know its "
           "length; give fope.trained_length");
    expect(shape.head_dim >= 2, "fope turns pairs of channels, and head_dim is ", shape.head_dim,
           ", expected at least 2");
    expect(fourier_dim == 0 || fourier_dim >= shape.head_dim, "fope.fourier_dim is ", fourier_dim,
           ", expected 0 or at least head_dim ", shape.head_dim);
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::vector<ParameterInfo> out;
    auto const p = plan(shape);
    if (!learnable || p.size() == 0) return out;
    for (int side = 0; side < (separate_basis ? 2 : 1); ++side)
      out.push_back({separate_basis ? (side ? "sin_coef" : "cos_coef") : "coef",
                     {per_head ? static_cast<std::size_t>(shape.heads) : 1, static_cast<std::size_t>(p.kept()),
                      static_cast<std::size_t>(p.series)},
                     [p](Stream const& stream, std::size_t i) { return p.start(stream, i); },
                     true,
                     per_head});
    return out;
  }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const& shape) const {
    return std::make_unique<FopeTransform<T>>(plan(shape));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Fope, "fope", "arXiv:2412.17739")
