// GRAPE-AP: a penalty summed along the path from key to query, whose edges compare the query with every token on the way.
//
//   P_i = W_h x_i in R^p,  P^ = P / sqrt(mean(P^2) + rms_eps)
//   psi(i, m) = alpha_h log sigmoid(<P^_i, R(p_m) P^_m> / p),  R(p) turns every pair of channels by p radians
//   logit(h, i, j) += sum over visible m in j+1 .. i of psi(i, m),  alpha = ALiBi's slopes
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 5. Only the key side turns, so the bias
// knows absolute positions. The released code has layout half, orientation clockwise and norm_rows false (the query side
// is not normalised). A key after its query (a mask that is not causal) gets the empty sum, 0.
#include <sextant/encoding/slopes.hpp>
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

#include <limits>

namespace sextant::plugins {
enum class Sense { counter_clockwise, clockwise };

/// ln(1 + x) for 0 <= x <= 1; the float form has no branch and vectorises, within 2 ulp.
inline double log1p_unit(double x) { return std::log1p(x); }
inline float log1p_unit(float x) {
  float const t = x / (2 + x), s = t * t;  // 2 artanh(t), t <= 1/3
  float const tail = s * (1 / 3.f + s * (1 / 5.f + s * (1 / 7.f + s * (1 / 9.f + s * (1 / 11.f + s * (1 / 13.f))))));
  return 2 * (t + t * tail);
}

/// How a probe of `width` channels is read.
struct ProbeForm {
  int width = 8;
  Layout layout = Layout::interleaved;
  int orientation = 1;
  bool norm_query = true;
  double eps = 1e-6;

  std::pair<int, int> channels(int pair) const {
    return layout == Layout::half ? std::pair{pair, pair + width / 2} : std::pair{2 * pair, 2 * pair + 1};
  }
  /// 1 / sqrt(mean(p^2) + eps); 0 for rows that are not finite (padding).
  template <class T>
  T inverse_rms(T const* p) const {
    T const square = kernels::row_sum<T>(width, [p](int k) { return p[k] * p[k]; });
    return std::isfinite(square) ? T(1) / std::sqrt(square / T(width) + static_cast<T>(eps)) : T(0);
  }
  /// out = factor * p, 0 where factor is.
  template <class T>
  void scaled(T const* p, T factor, T* out) const {
    for (int k = 0; k < width; ++k) out[k] = factor == T(0) ? T(0) : factor * p[k];
  }
  /// Turns every pair by `angle` radians times the orientation.
  template <class T>
  void turn(double angle, T* p) const {
    T const c = static_cast<T>(std::cos(angle)), s = static_cast<T>(orientation * std::sin(angle));
    for (int pair = 0; pair < width / 2; ++pair) {
      auto const [a, b] = channels(pair);
      T const x = p[a], y = p[b];
      p[a] = x * c - y * s;
      p[b] = y * c + x * s;
    }
  }
  /// Adds d loss / d p, given d loss / d (p times its inverse rms).
  template <class T>
  void add_normalised_gradient(T const* p, T inverse, T const* grad, T* out) const {
    if (inverse == T(0)) return;
    T along = 0;
    for (int k = 0; k < width; ++k) along += grad[k] * p[k];
    T const inward = along * inverse * inverse / T(width);
    for (int k = 0; k < width; ++k) out[k] += inverse * (grad[k] - inward * p[k]);
  }
};

template <class T>
class PathIntegral final : public RowTerm<T> {
  using Strip = kernels::Strip<T>;

 public:
  PathIntegral(ProbeForm const& form, SlopeOrder order) : form_(form), order_(order) {}

  void prepare(Exec const&, typename RowTerm<T>::Inputs const& in) override { in_ = in; }
  void finish(Tensors&) override {}

  /// One array: d psi / d product, up to alpha / width; 0 on hidden pairs.
  int notes() const override { return 1; }

  void forward(Strip const& strip, kernels::Operands<T> const&) const override {
    if (!in_.covers(strip.head)) return;
    auto const query = query_probes(strip), key = key_probes(strip);
    int const width = form_.width;
    T* const product = strip.note(0);
    kernels::small_nt(query.data(), width, strip.rows, key.data(), width, strip.cols, width, T(1) / T(width), product,
                      strip.stride);
    std::vector<T> edges(static_cast<std::size_t>(rows_at_once) * strip.cols);
    for (int r = 0; r < strip.rows; r += rows_at_once) {
      int const rows = std::min(rows_at_once, strip.rows - r);
      for (int n = 0; n < rows; ++n) form_edges(strip, r + n, edges.data() + static_cast<std::size_t>(n) * strip.cols);
      rows == rows_at_once ? add_sums<rows_at_once>(strip, r, edges.data()) : add_rest(strip, r, rows, edges.data());
    }
  }

  void backward(Strip const& strip, kernels::Operands<T> const&, T* grad,
                kernels::OperandGradients<T> const&) override {
    if (!in_.covers(strip.head)) return;
    int const width = form_.width, rows = strip.rows, cols = strip.cols;
    T const factor = slope(strip.head) / T(width);
    // Edge m lies on the path to every key before it.
    std::vector<T> flow(static_cast<std::size_t>(rows) * cols);
    for (int r = 0; r < rows; ++r) {
      T const *note = strip.note(0) + r * strip.stride, *g = grad + r * strip.stride;
      double before = 0;
      for (int m = 0; m < cols; ++m) {
        flow[static_cast<std::size_t>(r) * cols + m] = factor * note[m] * static_cast<T>(before);
        before += g[m];
      }
    }
    auto const query = query_probes(strip), key = key_probes(strip);
    std::vector<T> grad_query(query.size()), grad_key(key.size());
    kernels::small_nn(flow.data(), cols, rows, key.data(), width, width, cols, T(1), grad_query.data(), width);
    kernels::small_tn(flow.data(), cols, cols, query.data(), width, width, rows, T(1), grad_key.data(), width);

    T* const out = in_.feature_gradient[0].row(strip.batch, strip.head - in_.head_begin);
    for (int r = 0; r < rows; ++r) {
      T const *p = probe(strip, own_key(strip, r)), inverse = form_.inverse_rms(p), *g = grad_query.data() + r * width;
      T* const to = out + static_cast<std::ptrdiff_t>(own_key(strip, r)) * width;
      if (form_.norm_query)
        form_.add_normalised_gradient(p, inverse, g, to);
      else if (inverse != T(0))
        for (int k = 0; k < width; ++k) to[k] += g[k];
    }
    for (int m = 0; m < cols; ++m) {
      T const* p = probe(strip, m);
      T* const g = grad_key.data() + m * width;
      form_.turn(-strip.key_position[m], g);
      form_.add_normalised_gradient(p, form_.inverse_rms(p), g, out + static_cast<std::ptrdiff_t>(m) * width);
    }
  }

 private:
  static constexpr T hidden = -std::numeric_limits<T>::infinity();

  static constexpr int rows_at_once = 4;  ///< whose running sums do not wait for each other

  /// Row r's products, in note 0, to its edges, 0 where nothing is seen; and d edge / d product in their place.
  void form_edges(Strip const& strip, int r, T* __restrict edge) const {
    T const* const logit = strip.logit + r * strip.stride;
    T* __restrict const note = strip.note(0) + r * strip.stride;
    T const alpha = slope(strip.head);
    int const last = std::min(strip.cols, own_key(strip, r) + 1);
    for (int m = 0; m < last; ++m) {
      T const z = note[m], e = kernels::row_exp(z < T(0) ? z : -z);
      bool const seen = logit[m] != hidden;
      T const softplus = (z < T(0) ? -z : T(0)) + log1p_unit(e), slope = (z < T(0) ? T(1) : e) / (T(1) + e);
      edge[m] = seen ? -alpha * softplus : T(0);
      note[m] = seen ? slope : T(0);
    }
    std::fill(note + last, note + strip.cols, T(0));
    std::fill(edge + last, edge + strip.cols, T(0));
  }
  /// Adds to each key what lies behind it, summed from the query on so that near keys keep their digits.
  template <int rows>
  void add_sums(Strip const& strip, int r, T const* edges) const {
    double sum[rows] = {};
    for (int j = strip.cols - 1; j >= 0; --j)
      for (int n = 0; n < rows; ++n) {
        strip.logit[(r + n) * strip.stride + j] += static_cast<T>(sum[n]);  // -infinity stays
        sum[n] += edges[static_cast<std::size_t>(n) * strip.cols + j];
      }
  }
  void add_rest(Strip const& strip, int r, int rows, T const* edges) const {
    for (int n = 0; n < rows; ++n) add_sums<1>(strip, r + n, edges + static_cast<std::size_t>(n) * strip.cols);
  }

  T slope(int head) const {
    int const own = in_.first_head.index + head - in_.head_begin;
    return static_cast<T>(alibi_slope(own, in_.first_head.count, 8, order_));
  }
  int own_key(Strip const& strip, int r) const { return in_.key_len - in_.query_len + strip.row + r; }
  T const* probe(Strip const& strip, int token) const {
    return in_.features[0].row(strip.batch, strip.head - in_.head_begin) + std::ptrdiff_t(token) * form_.width;
  }
  std::vector<T> query_probes(Strip const& strip) const {
    std::vector<T> out(static_cast<std::size_t>(strip.rows) * form_.width);
    for (int r = 0; r < strip.rows; ++r) {
      T const *p = probe(strip, own_key(strip, r)), inverse = form_.inverse_rms(p);
      form_.scaled(p, form_.norm_query || inverse == T(0) ? inverse : T(1), out.data() + r * form_.width);
    }
    return out;
  }
  std::vector<T> key_probes(Strip const& strip) const {
    std::vector<T> out(static_cast<std::size_t>(strip.cols) * form_.width);
    for (int m = 0; m < strip.cols; ++m) {
      T const* p = probe(strip, m);
      form_.scaled(p, form_.inverse_rms(p), out.data() + m * form_.width);
      form_.turn(strip.key_position[m], out.data() + m * form_.width);
    }
    return out;
  }

  ProbeForm form_;
  SlopeOrder order_;
  typename RowTerm<T>::Inputs in_;
};

struct GrapeAp {
  int p_dim = 8;
  Layout layout = Layout::interleaved;
  Sense orientation = Sense::counter_clockwise;
  bool norm_rows = true;
  double rms_eps = 1e-6;
  SlopeOrder slope_order = SlopeOrder::press;

  static constexpr char const* summary = "a penalty summed along the path from key to query, edge by edge from content";
  static constexpr char const* formula =
      "logit(i, j) += sum_{m=j+1..i} alpha_h log sigmoid(<P_i, R(p_m) P_m> / p), P = rmsnorm(W_h x)";

  static std::vector<Equality> equals() {
    return {{"in MPT's order of slopes", {{{"slope_order", std::string("mpt")}}, {}}, {"grape_ap", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<GrapeAp>{}
        .option("p_dim", &GrapeAp::p_dim, "channels of a probe; even", at_least(2), Unit{"channels"})
        .choice("layout", &GrapeAp::layout, "which channels of a probe form a pair: (f, f + n/2) or (2f, 2f + 1)",
                {{"half", Layout::half}, {"interleaved", Layout::interleaved}})
        .choice("orientation", &GrapeAp::orientation, "sense of the key probes' turn",
                {{"counter_clockwise", Sense::counter_clockwise}, {"clockwise", Sense::clockwise}})
        .option("norm_rows", &GrapeAp::norm_rows, "normalise the query's probe too")
        .option("rms_eps", &GrapeAp::rms_eps, "added to the mean square of a probe", positive)
        .choice("slope_order", &GrapeAp::slope_order, "alpha of head counts that are no power of two",
                {{"press", SlopeOrder::press}, {"mpt", SlopeOrder::mpt}});
  }
  void check(Shape const&) const { expect(p_dim % 2 == 0, "grape_ap.p_dim is ", p_dim, ", expected an even number"); }

  std::vector<FeatureSpec> features(Shape const& shape) const {
    return {{.name = "w_p", .width = p_dim, .std = 0.5 / std::sqrt(shape.model_dim)}};
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    int const sense = orientation == Sense::clockwise ? -1 : 1;
    return std::make_unique<PathIntegral<T>>(ProbeForm{p_dim, layout, sense, norm_rows, rms_eps}, slope_order);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeAp, "grape_ap", "arXiv:2512.07805")
