// PaTH: between a key and a query stand the maps of all tokens after the key, each a reflection-like step set by its token.
//
//   logit(h, i, j) = s k_j^T H_{j+1} H_{j+2} .. H_i q_i,   H_n = I - beta_n w_n w_n^T
//   w_n = f_n / sqrt(|f_n|^2 + l2_eps), f = conv(up (down x));   beta_n = beta_range sigmoid(c_h . x_n + b_h)
//   forget:  logit += sum over m = j+1 .. i of log sigmoid(g_h . x_m + e_h)
//
// Source: Yang et al., "PaTH Attention", arXiv:2505.16381. `gate_scaled` multiplies the forgetting term by s, as the
// released kernels do. The blockwise algorithm is in term.hpp and chunk.hpp. A key after its query (a mask that is not
// causal) meets it with an empty product.
#include "term.hpp"

#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Path {
  bool forget = false, gate_scaled = false;
  double beta_range = 2, l2_eps = 1e-6;
  int rank = 32, taps = 3;

  static constexpr char const* summary = "a product of data-dependent Householder-like maps between key and query";
  static constexpr char const* formula =
      "logit(i, j) = k_j^T H_{j+1} .. H_i q_i / sqrt(D), H_n = I - beta_n w_n w_n^T, w_n and beta_n from the token";
  static constexpr bool relative = true;
  static constexpr bool multiplies = true;
  static constexpr int gate_count = 2;

  static auto schema() {
    return Schema<Path>{}
        .option("forget", &Path::forget, "add the forgetting transformer's decay between key and query")
        .option("gate_scaled", &Path::gate_scaled,
                "multiply that decay by the logits' scale, as the released code does")
        .option("beta_range", &Path::beta_range, "beta lies between 0 and this; up to 2 no map makes a key longer",
                Range{0, 2, true})
        .option("l2_eps", &Path::l2_eps, "added to |f|^2 before w is divided by its root", positive)
        .option("rank", &Path::rank, "width of the bottleneck that w comes through; 0: none", at_least(0),
                Unit{"channels"})
        .option("taps", &Path::taps, "tokens that w's convolution sees; 0: no convolution", at_least(0),
                Unit{"tokens"});
  }
  void check(Shape const&) const {
    expect(forget || !gate_scaled, "path.gate_scaled is true and path.forget is false, expected forget: true");
  }

  std::vector<FeatureSpec> features(Shape const& shape) const {
    return {{.name = "w", .width = shape.head_dim, .rank = rank, .taps = taps}};
  }
  GateSpec gate_spec(int g) const {
    if (g == 0) return {.weight_name = "beta_weight", .bias_name = "beta_bias"};
    return {.scan = Scan::inclusive, .weight_name = "forget_weight", .bias_name = "forget_bias", .active = forget};
  }
  template <class T>
  T gate(NoWeights<T> const&, int g, Head, T const& z) const {
    return g == 0 ? beta_range * math::sigmoid(z) : math::log_sigmoid(z);
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const& shape) const {
    return std::make_unique<path::Term<T>>(shape.head_dim, l2_eps, forget, gate_scaled);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Path, "path", "arXiv:2505.16381")
