// FoX, the forgetting transformer: every token decides how much of what came before it survives.
//
//   log f_m = log sigmoid(w_h . x_m + b_h);  logit(h, i, j) += sum over m = j+1 .. i of log f_m
//
// Source: Lin et al., "Forgetting Transformer", arXiv:2503.02130. The bias is C_i - C_j with C the inclusive sum, so the
// current token's own gate does not touch its own column. `bias_only` drops w: a decay per head, as ALiBi with trained
// slopes.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class FoxGate { full, bias_only };

struct Fox {
  FoxGate gate_kind = FoxGate::full;
  double shortest = 16, longest = 512;

  static constexpr char const* summary = "a data-dependent decay: the product of forget gates between key and query";
  static constexpr char const* formula = "logit(i, j) += sum_{m=j+1..i} log sigmoid(w_h . x_m + b_h)";
  static constexpr bool relative = true;
  static constexpr bool additive = true;
  static constexpr int gate_count = 1;

  static std::vector<Equality> equals() {
    return {{"with gate bias_only, once its gates read no token",
             {},
             {"fox", {{"gate", std::string("bias_only")}}, {}},
             {{"forget_weight", 0.0}}}};
  }

  static auto schema() {
    return Schema<Fox>{}
        .choice("gate", &Fox::gate_kind, "full: from the token and a bias; bias_only: one constant per head",
                {{"full", FoxGate::full}, {"bias_only", FoxGate::bias_only}})
        .option("shortest", &Fox::shortest, "initial decay time of the fastest head", positive, Unit{"tokens"})
        .option("longest", &Fox::longest, "initial decay time of the slowest head", positive, Unit{"tokens"});
  }
  void check(Shape const&) const {
    expect(longest >= shortest, "fox.longest is ", longest, ", expected at least fox.shortest, ", shortest);
  }

  GateSpec gate_spec(int) const {
    return {.input = GateInput::token,
            .scan = Scan::inclusive,
            .weight_name = gate_kind == FoxGate::full ? "forget_weight" : nullptr,
            .bias_name = "forget_bias"};
  }
  /// b = -ln(exp(1/T) - 1) gives a constant gate exp(-1/T); T runs log-spaced over the heads.
  double gate_bias(int head, Shape const& shape) const {
    double const at = shape.heads > 1 ? head / (shape.heads - 1.0) : 0.0;
    double const time = shortest * std::pow(longest / shortest, at);
    return -std::log(std::expm1(1 / time));
  }

  template <class T>
  T gate(NoWeights<T> const&, int, Head, T const& z) const {
    return math::log_sigmoid(z);
  }
  template <class T>
  KOKKOS_FUNCTION T bias(NoWeights<T> const&, Site<T> const& at) const {
    return at.query_gate() - at.key_gate();
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Fox, "fox", "arXiv:2503.02130")
