// Wrong: it swings so fast with the query that the query's last bits decide.
#include "wrong.hpp"

namespace sextant::wrong {
struct Steep {
  static constexpr bool relative = true;
  static constexpr int gate_count = 1;
  static auto schema() { return Schema<Steep>{}; }
  GateSpec gate_spec(int) const { return {.input = GateInput::query, .weight_name = "edge", .weight_std = 0}; }
  template <class T>
  T gate(NoWeights<T> const&, int, Head, T const& z) const {
    return math::sin(T(300.0) * z);
  }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(at.offset()) * at.query_gate();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::Steep, "steep", "made up")
