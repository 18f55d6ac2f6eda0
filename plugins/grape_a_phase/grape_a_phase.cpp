// Phase-modulated GRAPE-A: the distance between two tokens is the sum of what the tokens between them contribute.
//
//   omega_m = softplus(w_h . x_m + b_h);  logit(h, i, j) += -softplus(theta_h) sum over m = j+1 .. i of omega_m
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 5. The paper's phase is the sum over m < u,
// which gives m = j .. i-1 (`exclusive`); its use of the sum, and FoX, need the inclusive one.
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct GrapeAPhase {
  bool exclusive = false;

  static constexpr char const* summary = "ALiBi over a distance that the tokens in between add up";
  static constexpr char const* formula = "logit(i, j) += -softplus(theta_h) sum_{m=j+1..i} softplus(w_h . x_m + b_h)";
  static constexpr bool relative = true;
  static constexpr bool additive = true;
  static constexpr int gate_count = 1;
  static constexpr char const* weight_name = "theta_raw";

  static std::vector<Equality> equals() {
    return {{"at its start, once its rates read no token", {}, {"alibi", {}, {}}, {{"omega_weight", 0.0}}},
            {"at its start with the exclusive sum",
             {{{"exclusive", true}}, {}},
             {"alibi", {}, {}},
             {{"omega_weight", 0.0}}}};
  }

  static auto schema() {
    return Schema<GrapeAPhase>{}.option("exclusive", &GrapeAPhase::exclusive,
                                        "the sum runs over m = j .. i-1 instead of j+1 .. i");
  }

  template <class T>
  struct Weights {
    T theta_raw;  // theta = softplus(theta_raw)
  };
  Weights<double> init(int head, int heads) const {
    return {math::inverse_softplus(alibi_slope(head, heads, 8, SlopeOrder::press))};
  }

  GateSpec gate_spec(int) const {
    return {.input = GateInput::token,
            .scan = exclusive ? Scan::exclusive : Scan::inclusive,
            .weight_name = "omega_weight",
            .bias_name = "omega_bias"};
  }
  double gate_bias(int, Shape const&) const { return math::inverse_softplus(1); }

  template <class T>
  T gate(Weights<T> const&, int, Head, T const& z) const {
    return math::softplus(z);
  }
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    return math::softplus(w.theta_raw) * (at.key_gate() - at.query_gate());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeAPhase, "grape_a_phase", "arXiv:2512.07805")
