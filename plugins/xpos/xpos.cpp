// xPos: RoPE whose pairs also fade with distance, the fast ones sooner.
//
//   logit(i, j) = s sum over pairs f of zeta_f^(d / S) q_if^T R(-d t_f) k_jf,   d = p_i - p_j
//   zeta_f = (2f/D + gamma) / (1 + gamma),  S = scale_base,  t_f = base^(-2f/D)
//
// Source: Sun et al., "A Length-Extrapolatable Transformer", arXiv:2212.10554. The paper puts zeta^((p - c)/S) on the
// query and zeta^(-(p - c)/S) on the key for some centre c, which cancels. Here every block of pairs has a centre of its
// own, so no length leaves the range of float32, and the cache holds keys that are turned and not scaled. Causal: the
// factor would grow with d < 0. Growth beyond e^30 on either side of such a pair is cut.
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

#include <algorithm>

namespace sextant::plugins {

/// zeta^(exponent / S) of every channel.
template <class T>
class Fading {
 public:
  Fading(int dim, int pairs, Layout layout, double gamma, double scale_base) : rate_(dim, 0.0) {
    for (int f = 0; f < pairs; ++f) {
      double const zeta = (static_cast<double>(f) / pairs + gamma) / (1 + gamma);
      auto const [a, b] = layout == Layout::half ? std::pair{f, f + pairs} : std::pair{2 * f, 2 * f + 1};
      rate_[a] = rate_[b] = std::log(zeta) / scale_base;
    }
    for (double r : rate_) steepest_ = std::max(steepest_, -r);
    table_.resize(static_cast<std::size_t>(to - from) * dim);
    for (int n = from; n < to; ++n) compute(n, table_.data() + static_cast<std::size_t>(n - from) * dim);
  }
  /// One factor a channel: a growing one stops at e^30, one below e^-80 is 0. Stands in a table or in `scratch`.
  T const* factors(double exponent, T* scratch) const {
    if (exponent >= from && exponent < to && exponent == std::floor(exponent))
      return table_.data() + static_cast<std::size_t>(exponent - from) * rate_.size();
    compute(exponent, scratch);
    return scratch;
  }
  /// Whether a factor may grow over `reach` tokens and be exact.
  bool holds(double reach) const { return reach * steepest_ <= most; }
  int dim() const { return static_cast<int>(rate_.size()); }

 private:
  static constexpr double most = 30, least = -80;
  static constexpr int from = -64, to = 128;  ///< exponents of the table: what blocks of consecutive tokens need

  void compute(double exponent, T* out) const {
    for (std::size_t k = 0; k < rate_.size(); ++k) {
      double const power = exponent * rate_[k];
      T const grown = kernels::row_exp(static_cast<T>(std::min(power, most)));
      out[k] = power < least ? T(0) : grown;
    }
  }
  std::vector<double> rate_;
  double steepest_ = 0;
  std::vector<T> table_;
};

template <class T>
class FadingProduct final : public RowTerm<T> {
  using Strip = kernels::Strip<T>;
  using Operands = kernels::Operands<T>;
  using OperandGradients = kernels::OperandGradients<T>;

 public:
  explicit FadingProduct(Fading<T> fading) : fading_(std::move(fading)) {}

  void prepare(Exec const&, typename RowTerm<T>::Inputs const& in) override { in_ = in; }
  void finish(Tensors&) override {}
  bool multiplies(int head) const override { return in_.covers(head); }

  void multiply(Strip const& strip, Operands const& operands) const override {
    expect(operands.dim >= fading_.dim(), "xpos acts on whole heads: query and key have ", operands.dim,
           " channels, expected its ", fading_.dim());
    Scratch to(strip.rows, fading_.dim());
    over_blocks(strip, [&](Block const& b) {
      scale(strip, operands, b, false, to);
      kernels::small_nt(to.query.data(), to.dim, b.rows, to.key.data(), to.dim, b.cols, to.dim, operands.scale,
                        strip.logit + b.row * strip.stride + b.col, strip.stride);
    });
  }

  void multiply_backward(Strip const& strip, Operands const& operands, T const* grad,
                         OperandGradients const& out) override {
    Scratch to(strip.rows, fading_.dim());
    int const dim = to.dim;
    std::vector<T> moved(static_cast<std::size_t>(std::max(strip.rows, block_keys)) * dim);
    auto const add = [&](T const* from, T const* first, T const* second, T* sum) {
      for (int k = 0; k < dim; ++k) sum[k] += from[k] * (first[k] * second[k]);
    };
    over_blocks(strip, [&](Block const& b) {
      scale(strip, operands, b, true, to);
      T const* g = grad + b.row * strip.stride + b.col;
      kernels::small_nn(g, strip.stride, b.rows, to.key.data(), dim, dim, b.cols, operands.scale, moved.data(), dim);
      for (int r = 0; r < b.rows; ++r)
        add(moved.data() + r * dim, query_factors(strip, b, r, to), to.between.data(),
            out.query + (b.row + r) * out.query_stride);
      kernels::small_tn(g, strip.stride, b.cols, to.query.data(), dim, dim, b.rows, operands.scale, moved.data(), dim);
      for (int j = 0; j < b.cols; ++j)
        add(moved.data() + j * dim, key_factors(strip, b, j, to), ones_.data(), out.key + (b.col + j) * out.key_stride);
    });
  }

 private:
  static constexpr int block_keys = 64;
  struct Block {
    int row, rows, col, cols;
    double centre;       ///< of the key's factors
    double first_query;  ///< least position of the rows: centre of the query's
  };
  /// Scaled rows of a block.
  struct Scratch {
    Scratch(int rows, int dim_)
        : dim(dim_),
          query(static_cast<std::size_t>(rows) * dim),
          key(static_cast<std::size_t>(block_keys) * dim),
          between(dim),
          row(dim) {}
    int dim;
    std::vector<T> query, key, between, row;
  };

  /// f(block) for blocks that cover the strip. No factor of a pair with d >= 0 overflows: behind all keys of a block
  /// nothing grows, and a block with pairs of both kinds is halved until it spans little.
  template <class F>
  void over_blocks(Strip const& strip, F&& f) const {
    for (int col = 0; col < strip.cols; col += block_keys)
      halve(strip, {0, strip.rows, col, std::min(block_keys, strip.cols - col), 0, 0}, f);
  }
  template <class F>
  void halve(Strip const& strip, Block b, F&& f) const {
    double const *query = strip.query_position + b.row, *key = strip.key_position + b.col;
    auto const [first_query, last_query] = std::minmax_element(query, query + b.rows);
    auto const [first_key, last_key] = std::minmax_element(key, key + b.cols);
    double const overlap = std::max(0.0, *last_key - *first_query), reach = std::floor(overlap / 2);
    if (fading_.holds(overlap - reach) || *first_key > *last_query) {
      b.centre = *last_key - reach;
      b.first_query = *first_query;
      return f(b);
    }
    Block first = b, second = b;
    if (b.rows > b.cols) {
      first.rows = b.rows / 2;
      second.row += first.rows, second.rows -= first.rows;
    } else {
      first.cols = b.cols / 2;
      second.col += first.cols, second.cols -= first.cols;
    }
    halve(strip, first, f);
    halve(strip, second, f);
  }

  /// A query's factor is zeta^((p_i - first_query)/S) zeta^((first_query - centre)/S), the second being `between`; a
  /// key's zeta^((centre - p_j)/S).
  T const* query_factors(Strip const& strip, Block const& b, int r, Scratch& to) const {
    return fading_.factors(strip.query_position[b.row + r] - b.first_query, to.row.data());
  }
  T const* key_factors(Strip const& strip, Block const& b, int j, Scratch& to) const {
    return fading_.factors(b.centre - strip.key_position[b.col + j], to.row.data());
  }
  void scale(Strip const& strip, Operands const& operands, Block const& b, bool clean, Scratch& to) const {
    int const dim = to.dim;
    std::copy_n(fading_.factors(b.first_query - b.centre, to.row.data()), dim, to.between.data());
    for (int r = 0; r < b.rows; ++r)
      scale_row(operands.query + (b.row + r) * operands.query_stride, query_factors(strip, b, r, to), to.between.data(),
                dim, clean, to.query.data() + r * dim);
    for (int j = 0; j < b.cols; ++j)
      scale_row(operands.key + (b.col + j) * operands.key_stride, key_factors(strip, b, j, to), ones_.data(), dim,
                clean, to.key.data() + j * dim);
  }
  /// out = in * first * second. Rows that are not finite (another document's) become 0 when `clean`: in a backward a
  /// hidden pair's gradient of 0 must not meet NaN.
  static void scale_row(T const* in, T const* first, T const* second, int dim, bool clean, T* __restrict out) {
    for (int k = 0; k < dim; ++k) out[k] = in[k] * (first[k] * second[k]);
    if (!clean) return;
    T spoilt = 0;  // x - x is NaN for what is not finite
#pragma omp simd reduction(+ : spoilt)
    for (int k = 0; k < dim; ++k) spoilt += in[k] - in[k];
    if (spoilt != T(0)) std::fill_n(out, dim, T(0));
  }

  Fading<T> fading_;
  std::vector<T> ones_ = std::vector<T>(fading_.dim(), T(1));
  typename RowTerm<T>::Inputs in_;
};

struct Xpos {
  double base = 10000, scale_base = 512, gamma = 0.4;
  Layout layout = Layout::interleaved;

  static constexpr char const* summary = "rope whose pairs fade exponentially with distance, fast pairs first";
  static constexpr char const* formula =
      "logit(i, j) = sum_f zeta_f^(d/S) q_f^T R(-d t_f) k_f / sqrt(D), zeta_f = (2f/D + gamma)/(1 + gamma)";
  static constexpr bool relative = true;
  static constexpr bool multiplies = true;

  static auto schema() {
    return Schema<Xpos>{}
        .option("base", &Xpos::base, "theta: ratio of the slowest wavelength to the fastest", above(1))
        .choice("layout", &Xpos::layout, "which channels form a pair: (f, f + n/2) or (2f, 2f + 1)",
                {{"half", Layout::half}, {"interleaved", Layout::interleaved}})
        .option("scale_base", &Xpos::scale_base, "S: over this distance pair f shrinks by zeta_f", positive,
                Unit{"tokens"})
        .option("gamma", &Xpos::gamma, "zeta_f = (2f/D + gamma)/(1 + gamma)", positive);
  }
  void check(Shape const& shape) const {
    expect(shape.head_dim % 2 == 0, "xpos: head_dim is ", shape.head_dim, ", expected an even number");
  }

  Rotary rotary(Shape const& shape) const { return {.rotary_dim = shape.head_dim, .layout = layout, .base = base}; }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    return T(std::pow(base, -2.0 * pair / form.rotary_dim));
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const& shape) const {
    return std::make_unique<FadingProduct<T>>(Fading<T>(shape.head_dim, shape.head_dim / 2, layout, gamma, scale_base));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Xpos, "xpos", "arXiv:2212.10554")
