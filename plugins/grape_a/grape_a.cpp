// GRAPE-A: a bias linear in distance whose slope the key, the query or both decide.
//
//   logit(h, i, j) += (p_j - p_i) omega_h [ softplus(v_h . q_i / sqrt(D)) + softplus(u_h . k_j / sqrt(D)) ]
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 4. `gate` k keeps the u term, q the v
// term, qk both. The gates read q and k as they enter the product, before any turn. The released code also multiplies
// omega by ALiBi's slopes and uses unit u and v: use_slopes, unit_gate.
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class GrapeGate { key, query, both };

struct GrapeA {
  GrapeGate gate_kind = GrapeGate::key;
  bool use_slopes = false;
  bool unit_gate = false;
  double unit_eps = 1e-6;

  static constexpr char const* summary = "ALiBi whose slope is set by the key, the query or both";
  static constexpr char const* formula =
      "logit(i, j) += (p_j - p_i) omega_h [softplus(v_h.q_i/sqrt(D)) + softplus(u_h.k_j/sqrt(D))]";
  static constexpr bool relative = true;
  static constexpr int gate_count = 2;
  static constexpr char const* weight_name = "omega_raw";

  static std::vector<Equality> equals() {
    Options const options{{"use_slopes", true}};
    return {{"of slope_scale ln 2 with gates that read nothing",
             {options, {}},
             {"alibi", {{"slope_scale", std::log(2.0)}}, {}},
             {{"key_gate", 0.0}}}};
  }

  static auto schema() {
    return Schema<GrapeA>{}
        .choice("gate", &GrapeA::gate_kind, "which side sets the slope",
                {{"k", GrapeGate::key}, {"q", GrapeGate::query}, {"qk", GrapeGate::both}})
        .option("use_slopes", &GrapeA::use_slopes, "multiply omega by ALiBi's slopes (released code: true)")
        .option("unit_gate", &GrapeA::unit_gate, "divide u and v by their norms (released code: true)")
        .option("unit_eps", &GrapeA::unit_eps, "smallest norm that unit_gate divides by", positive);
  }

  template <class T>
  struct Weights {
    T omega_raw;  // omega = softplus(omega_raw)
  };
  static constexpr bool bias_reads_weights = false;  // omega and the slope enter through the gates, once per token
  Weights<double> init(int, int) const { return {math::inverse_softplus(1)}; }

  GateSpec gate_spec(int side) const {
    bool const query = side == 0;
    return {.input = query ? GateInput::query : GateInput::key,
            .weight_name = query ? "query_gate" : "key_gate",
            .divisor = 0,  // sqrt(head_dim)
            .unit_weight = unit_gate,
            .unit_eps = unit_eps,
            .weight_std = 0,  // 1 / sqrt(head_dim)
            .active = gate_kind == GrapeGate::both || (gate_kind == GrapeGate::query) == query};
  }
  template <class T>
  T gate(Weights<T> const& w, int, Head head, T const& z) const {
    T const slope = use_slopes ? T(alibi_slope(head.index, head.count, 8, SlopeOrder::press)) : T(1);
    return math::softplus(w.omega_raw) * slope * math::softplus(z);
  }
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const&, Site<T> const& at) const {
    return T(-at.offset()) * (at.query_gate(0) + at.key_gate(1));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeA, "grape_a", "arXiv:2512.07805")
