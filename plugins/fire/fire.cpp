// FIRE: a small network maps the distance, progressively interpolated by the query's own position, to a bias per head.
//
//   x_ij = psi(d) / (psi(max(|mu L0|, p_i)) + eps),  psi(t) = ln(1 + |c t|),  d = max(p_i - p_j, 0)
//   logit(h, i, j) += w2_h . relu(w1 x_ij + b1) + b2_h
//
// Source: Li et al., "Functional Interpolation for Relative Positions", arXiv:2310.04418, section 4. c, mu and one network
// for all heads are trained; L0 is a constant that mu starts at.
#include <sextant/kernels/row_math.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
namespace {
using Sums = std::vector<double>;  // [pieces] of g, [pieces] of g x, then d loss / d c and d loss / d mu

/// relu(w1 x + b1) summed with w2: linear in x between the points where a unit switches. Two numbers a piece and head
/// serve every pair, and sums of g and g x over a piece hold all that the gradient needs.
class Pieces {
 public:
  Pieces() = default;
  Pieces(Tensors const& t, int heads)
      : w1_(t[2]), b1_(t[3]), w2_(t[4]), width_(static_cast<int>(t[2].size())), order_(t[2].size(), -1) {
    std::vector<int> units;
    for (int u = 0; u < width_; ++u)
      if (w1_[u] != 0) units.push_back(u);
    std::sort(units.begin(), units.end(), [&](int a, int b) { return -b1_[a] / w1_[a] < -b1_[b] / w1_[b]; });
    for (int u : units) {
      order_[u] = static_cast<int>(knot.size());
      knot.push_back(-b1_[u] / w1_[u]);
    }
    for (int h = 0; h < heads; ++h)
      for (int s = 0; s < count(); ++s) {
        double a = 0, b = t[5][h];
        for (int u = 0; u < width_; ++u)
          if (on(u, s)) a += w2_[h * width_ + u] * w1_[u], b += w2_[h * width_ + u] * b1_[u];
        slope.push_back(a), constant.push_back(b);
      }
  }
  int count() const { return static_cast<int>(knot.size()) + 1; }

  /// Adds what a head's sums say of w1, b1, w2 and b2.
  void gradient(int head, double const* sum, Tensors& out) const {
    double const *of_g = sum, *of_gx = sum + count();
    for (int s = 0; s < count(); ++s) out[5][head] += of_g[s];
    for (int u = 0; u < width_; ++u) {
      double g = 0, gx = 0;
      for (int s = 0; s < count(); ++s)
        if (on(u, s)) g += of_g[s], gx += of_gx[s];
      out[4][head * width_ + u] += w1_[u] * gx + b1_[u] * g;
      out[2][u] += w2_[head * width_ + u] * gx;
      out[3][u] += w2_[head * width_ + u] * g;
    }
  }

  std::vector<double> knot;             // rising; piece s lies between knots s - 1 and s
  std::vector<double> slope, constant;  // [heads, pieces]

 private:
  bool on(int unit, int piece) const {
    if (w1_[unit] == 0) return b1_[unit] > 0;
    return w1_[unit] > 0 ? piece > order_[unit] : piece <= order_[unit];
  }
  std::vector<double> w1_, b1_, w2_;
  int width_ = 0;
  std::vector<int> order_;  // of each unit's knot
};

template <class T>
class FireRows final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  FireRows(double threshold, double eps) : threshold_(threshold), eps_(eps) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    c_ = in.tensors[0][0] / in.stretch;  // psi of a stretched distance, and L0 in tokens again
    reach_ = threshold_ * in.stretch;
    far_ = in.tensors[1][0] * reach_;
    pieces_ = Pieces(in.tensors, in.heads);
    knot_.assign(pieces_.knot.begin(), pieces_.knot.end());
    double const longest = std::min(std::max(in.most_offset, 0.0), 2.0 * in.key_len + 1024);
    psi_.resize(in.whole_positions ? static_cast<std::size_t>(longest) + 1 : 0);
    psi_slope_.resize(in.want_gradient ? psi_.size() : 0);
    for (std::size_t d = 0; d < psi_.size(); ++d) psi_[d] = static_cast<T>(psi(double(d)));
    for (std::size_t d = 0; d < psi_slope_.size(); ++d) psi_slope_[d] = static_cast<T>(psi_slope(double(d)));
    sum_.assign(in.want_gradient ? static_cast<std::size_t>(in.batch) * in.heads * stride() : 0, 0.0);
  }

  void forward(kernels::Strip<T> const& strip, kernels::Operands<T> const&) const override {
    if (!in_.covers(strip.head)) return;
    int const first = (strip.head - in_.head_begin) * pieces_.count();
    std::vector<T> x(strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      T* const logit = strip.logit + r * strip.stride;
      inputs(strip, r, inverse(strip.query_position[r]), x.data());
      over_pieces(x, [&](int piece, int begin, int end) {
        T const a = static_cast<T>(pieces_.slope[first + piece]), b = static_cast<T>(pieces_.constant[first + piece]);
        for (int j = begin; j < end; ++j) logit[j] += a * x[j] + b;
      });
    }
  }

  void backward(kernels::Strip<T> const& strip, kernels::Operands<T> const&, T* grad,
                kernels::OperandGradients<T> const&) override {
    if (!in_.covers(strip.head)) return;
    int const head = strip.head - in_.head_begin, count = pieces_.count();
    double* const sum = sum_.data() + (static_cast<std::size_t>(strip.batch) * in_.heads + head) * stride();
    std::vector<T> x(strip.cols), psi_slopes(strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      double const at = strip.query_position[r], scale = inverse(at);
      T const* const g = grad + r * strip.stride;
      inputs(strip, r, scale, x.data());
      slopes(strip, r, psi_slopes.data());
      double by_x = 0, by_psi = 0;  // sums of (d loss / d x) x and of (d loss / d x) d psi(d) / d c
      over_pieces(x, [&](int piece, int begin, int end) {
        auto const sum_of = [&](auto&& f) {
          return kernels::row_sum<double>(end - begin, [&](int n) { return double(g[begin + n]) * f(begin + n); });
        };
        double const of_gx = sum_of([&](int j) { return x[j]; }), a = pieces_.slope[head * count + piece];
        sum[piece] += sum_of([](int) { return T(1); });
        sum[count + piece] += of_gx;
        by_x += a * of_gx;
        by_psi += a * sum_of([&](int j) { return psi_slopes[j]; });
      });
      double const longest = std::max(std::abs(far_), at);
      sum[2 * count] += scale * (by_psi - by_x * psi_slope(longest));
      if (std::abs(far_) > at)
        sum[2 * count + 1] -= scale * by_x * std::abs(c_) / (1 + std::abs(c_) * longest) * std::copysign(reach_, far_);
    }
  }

  void finish(Tensors& gradient) override {
    for (int b = 0; b < in_.batch; ++b)
      for (int h = 0; h < in_.heads; ++h) {
        double const* const sum = sum_.data() + (static_cast<std::size_t>(b) * in_.heads + h) * stride();
        pieces_.gradient(h, sum, gradient);
        gradient[0][0] += sum[2 * pieces_.count()] / in_.stretch;
        gradient[1][0] += sum[2 * pieces_.count() + 1];
      }
  }

 private:
  int stride() const { return 2 * pieces_.count() + 2; }
  double psi(double t) const { return std::log1p(std::abs(c_) * t); }
  double psi_slope(double t) const { return std::copysign(t, c_) / (1 + std::abs(c_) * t); }  // d psi / d c
  double inverse(double query) const { return 1 / (psi(std::max(std::abs(far_), query)) + eps_); }

  /// out[j] = f(distance of row r and key j), from a table where there is one.
  template <class F>
  void of_distance(kernels::Strip<T> const& strip, int r, std::vector<T> const& table, F&& f, double scale,
                   T* out) const {
    double const at = strip.query_position[r], size = static_cast<double>(table.size());
    T const by = static_cast<T>(scale);
    for (int j = 0; j < strip.cols; ++j) {
      double const d = std::max(at - strip.key_position[j], 0.0);
      out[j] = d < size ? table[static_cast<std::size_t>(d)] * by : static_cast<T>(f(d) * scale);
    }
  }
  void inputs(kernels::Strip<T> const& strip, int r, double scale, T* out) const {
    of_distance(
        strip, r, psi_, [&](double d) { return psi(d); }, scale, out);
  }
  void slopes(kernels::Strip<T> const& strip, int r, T* out) const {
    of_distance(
        strip, r, psi_slope_, [&](double d) { return psi_slope(d); }, 1, out);
  }
  /// f(piece, begin, end) for runs of neighbours on one piece: few where positions rise along the row.
  template <class F>
  void over_pieces(std::vector<T> const& x, F&& f) const {
    int const n = static_cast<int>(x.size()), last = static_cast<int>(knot_.size());
    T const inf = std::numeric_limits<T>::infinity();
    for (int begin = 0, end = 0; begin < n; begin = end) {
      int const s = static_cast<int>(std::upper_bound(knot_.begin(), knot_.end(), x[begin]) - knot_.begin());
      T const least = s > 0 ? knot_[s - 1] : -inf, most = s < last ? knot_[s] : inf;
      for (end = begin + 1; end < n && x[end] >= least && x[end] < most;) ++end;
      f(s, begin, end);
    }
  }

  double threshold_, eps_;
  Inputs in_;
  double c_ = 0, reach_ = 0, far_ = 0;  // reach = L0, far = mu L0
  Pieces pieces_;
  std::vector<T> knot_, psi_, psi_slope_;
  Sums sum_;
};
}  // namespace

struct Fire {
  int width = 32;
  double threshold = 512;
  double eps = 1e-6;

  static constexpr char const* summary = "a trained network of the distance relative to the query's position";
  static constexpr char const* formula =
      "logit(i, j) += MLP(psi(d) / (psi(max(|mu L0|, p_i)) + eps))_h, psi(t) = ln(1 + |c t|)";

  static constexpr bool stretches = true;

  static std::vector<Equality> equals() {
    return {{"with an output that reads no unit", {}, {"nope", {}, {}}, {{"w2", 0.0}}}};
  }

  static auto schema() {
    return Schema<Fire>{}
        .option("width", &Fire::width, "units of the network", between(1, 1024))
        .option("threshold", &Fire::threshold, "L0: queries before mu L0 are not normalised by their own position",
                positive, Unit{"tokens"})
        .option("eps", &Fire::eps, "added to the denominator", positive);
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const heads = shape.heads, n = width;
    auto const constant = [](double x) { return [x](Stream const&, std::size_t) { return x; }; };
    auto const uniform = [](double most) {
      return [most](Stream const& stream, std::size_t i) { return most * (2 * stream.uniform(i) - 1); };
    };
    double const most = 1 / std::sqrt(static_cast<double>(width));
    return {{"c", {1}, constant(0.1), true, false},        {"L_mult", {1}, constant(1), true, false},
            {"w1", {n, 1}, uniform(1), true, false},       {"b1", {n}, uniform(1), true, false},
            {"w2", {heads, n}, uniform(most), true, true}, {"b2", {heads}, uniform(most), true, true}};
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<FireRows<T>>(threshold, eps);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Fire, "fire", "arXiv:2310.04418")
