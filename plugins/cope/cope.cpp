// CoPE: contextual positions. A gate per pair decides whether a key counts; the position of a key is the number of keys
// that count from it up to the query, and a trained vector per position, interpolated, joins the logit.
//
//   z_ij = s q_i . k_j;  g_im = sigmoid(z_im);  P_ij = min(sum over m = j .. i of g_im, npos - 1);  w = P - floor P
//   logit(h, i, j) = z_ij + (1 - w) q_i . e[floor P] + w q_i . e[ceil P]
//
// Source: Golovneva et al., "Contextual Position Encoding", arXiv:2405.18719, section 4 and the listing. e meets the
// unscaled query, as in the listing; with emb_scaled it is scaled as the product is. Keys that the mask hides do not count;
// without a causal mask keys after the query lie at position 0. Sums run in double, and stop where they are clamped.
#include <sextant/encoding/row_tools.hpp>
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
namespace {

/// place[j] = sum of gate[j .. own], for j from `own` down, until that reaches `top`, from where on it is `top`.
/// Returns the first j that is not clamped, or rather one at most some keys before it: place[that ..] is defined.
/// `form(begin, end)` is called before gates [begin, end) are read.
template <class T, class Form>
int count_back(T const* gate, int own, double top, double* place, Form const& form) {
  constexpr int group = 8, chunk = 64;
  double carry = 0;
  for (int end = own + 1; end > 0;) {
    int const begin = std::max(0, end - chunk);
    form(begin, end);
    while (end > begin) {
      int const count = std::min(group, end - begin);
      double within = 0;  // a short chain of its own, so that the long one has a link per group
      for (int k = 1; k <= count; ++k) {
        within += static_cast<double>(gate[end - k]);
        place[end - k] = std::min(top, carry + within);  // NaN becomes top
      }
      carry += within;
      end -= count;
    }
    if (carry >= top) return begin;
  }
  return 0;
}

template <class T>
class CopeRows final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  using Strip = kernels::Strip<T>;
  using Operands = kernels::Operands<T>;

  CopeRows(int npos, bool emb_scaled) : npos_(npos), emb_scaled_(emb_scaled) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    vectors_ = std::move(narrowed<T>(in.tensors).at(0));
    if (in.want_gradient) gradient_.reset(in.batch, in.heads, vectors_.size());
  }

  int notes() const override { return 1; }  // the gates

  void forward(Strip const& strip, Operands const& x) const override {
    if (!in_.covers(strip.head)) return;
    T const* const terms = position_terms(strip, x);
    double* const place = scratch<double, 3>(strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      T* const logit = strip.logit + r * strip.stride;
      T* const gate = strip.note(0) + r * strip.stride;
      T const* const at = terms + r * (npos_ + 1);
      int const own = own_key(strip, r);
      auto const form = [&](int begin, int end) {
        for (int j = begin; j < end; ++j)
          gate[j] = logit[j] == -std::numeric_limits<T>::infinity() ? T(0) : kernels::sigmoid(logit[j]);
      };
      int const first = count_back(gate, own, npos_ - 1.0, place, form);
      for (int j = 0; j < first; ++j) logit[j] = unless_hidden(logit[j], at[npos_ - 1]);
#pragma omp simd
      for (int j = first; j <= own; ++j) {
        int const n = static_cast<int>(place[j]);
        T const w = static_cast<T>(place[j] - n);
        logit[j] = unless_hidden(logit[j], at[n] + w * (at[n + 1] - at[n]));
      }
      for (int j = own + 1; j < strip.cols; ++j) logit[j] = unless_hidden(logit[j], at[0]);
    }
  }

  void backward(Strip const& strip, Operands const& x, T* grad, kernels::OperandGradients<T> const& out) override {
    if (!in_.covers(strip.head)) return;
    int const dim = x.dim, stride = npos_ + 1;
    T const* const terms = position_terms(strip, x);
    T const* const query =
        rows_with_gradient<T, 1>(x.query, x.query_stride, strip.rows, dim, grad, strip.stride, strip.cols);
    std::size_t const cells = static_cast<std::size_t>(strip.rows) * stride;
    T* const term_grad = scratch<T, 2>(cells);
    std::fill_n(term_grad, cells, T(0));
    for (int r = 0; r < strip.rows; ++r)
      row_backward(strip, r, terms + r * stride, grad + r * strip.stride, term_grad + r * stride);
    kernels::small_nn(term_grad, stride, strip.rows, vectors_.data(), dim, dim, npos_, factor(x), out.query,
                      out.query_stride, true);
    kernels::small_tn(term_grad, stride, npos_, query, dim, dim, strip.rows, factor(x),
                      gradient_.at(strip.batch, strip.head - in_.head_begin), dim, true);
  }

  void finish(Tensors& gradient) override { gradient_.add_to(gradient.at(0), false); }

 private:
  T factor(Operands const& x) const { return emb_scaled_ ? x.scale : T(1); }
  /// The query's own key, by index: position ids play no part. -1 for queries before the first key.
  int own_key(Strip const& strip, int r) const {
    return std::clamp(strip.row + r + in_.key_len - in_.query_len, -1, strip.cols - 1);
  }
  /// q . e[n] of the strip's rows, [rows, npos + 1]; the last again at the end, for interpolation.
  T* position_terms(Strip const& strip, Operands const& x) const {
    int const stride = npos_ + 1;
    T* const terms = scratch<T, 0>(static_cast<std::size_t>(strip.rows) * stride);
    kernels::small_nt(x.query, x.query_stride, strip.rows, vectors_.data(), x.dim, npos_, x.dim, factor(x), terms,
                      stride);
    for (int r = 0; r < strip.rows; ++r) terms[r * stride + npos_] = terms[r * stride + npos_ - 1];
    return terms;
  }
  /// Adds to grad what flows through the gates, and to term_grad[npos + 1] what flows to the row's position terms.
  void row_backward(Strip const& strip, int r, T const* at, T* grad, T* term_grad) const {
    T const* const gate = strip.note(0) + r * strip.stride;
    double* const place = scratch<double, 3>(strip.cols);
    double const top = npos_ - 1.0;
    int const own = own_key(strip, r), first = count_back(gate, own, top, place, [](int, int) {});
    term_grad[npos_ - 1] += kernels::row_sum<T>(first, [&](int j) { return grad[j]; });
    term_grad[0] += kernels::row_sum<T>(strip.cols - own - 1, [&](int j) { return grad[own + 1 + j]; });
    double reach = 0;                 // d loss / d (gate of key j), so far: every key up to j counts it
    for (int j = first; j <= own;) {  // places fall along j: neighbours between the same two vectors are summed at once
      int const n = static_cast<int>(place[j]);
      T lower = 0, upper = 0;
      double const slope = static_cast<double>(at[n + 1]) - static_cast<double>(at[n]);
      for (; j <= own && place[j] >= n; ++j) {
        T const w = static_cast<T>(place[j] - n);
        lower += (1 - w) * grad[j];
        upper += w * grad[j];
        if (w > 0) reach += slope * static_cast<double>(grad[j]);
        if (gate[j] > 0) grad[j] += static_cast<T>(reach) * gate[j] * (1 - gate[j]);
      }
      term_grad[n] += lower;
      term_grad[std::min(n + 1, npos_ - 1)] += upper;
    }
  }

  int npos_;
  bool emb_scaled_;
  Inputs in_;
  std::vector<T> vectors_;
  SumsPerHead<T> gradient_;
};
}  // namespace

struct Cope {
  int npos = 64;
  bool emb_scaled = false;

  static constexpr char const* summary = "positions that count the keys a gate lets count, a trained vector for each";
  static constexpr char const* formula =
      "logit(i, j) = z_ij + q_i . e[P_ij], P_ij = min(sum_{m=j..i} sigmoid(z_im), npos - 1), e interpolated";
  static constexpr bool relative = true;

  static auto schema() {
    return Schema<Cope>{}
        .option("npos", &Cope::npos, "trained positions; a larger count of keys is the last of them", between(1, 65536))
        .option("emb_scaled", &Cope::emb_scaled, "scale the position term as the product is");
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    return {{.name = "pos_emb",
             .shape = {static_cast<std::size_t>(npos), static_cast<std::size_t>(shape.head_dim)},
             .init = [](Stream const&, std::size_t) { return 0.0; },
             .per_layer = true,
             .per_head = false}};
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<CopeRows<T>>(npos, emb_scaled);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Cope, "cope", "arXiv:2405.18719")
