// Wrong: a hand-written derivative of tanh lacks its square, in a gate that reads the query.
#include "wrong.hpp"

namespace sextant::wrong {
template <class T>
T bad_tanh(T const& x) {
  double const y = std::tanh(static_cast<double>(value_of(x)));
  if constexpr (std::is_arithmetic_v<T>)
    return T(y);
  else
    return T::chain(Scalar<T>(y), x, Scalar<T>(1 - y));
}
struct WrongFactor {
  static constexpr bool relative = true;
  static constexpr int gate_count = 1;
  static auto schema() { return Schema<WrongFactor>{}; }
  GateSpec gate_spec(int) const { return {.input = GateInput::query, .weight_name = "steepness", .weight_std = 0}; }
  template <class T>
  T gate(NoWeights<T> const&, int, Head, T const& z) const {
    return bad_tanh(z);
  }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(-at.offset()) * at.query_gate();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::WrongFactor, "wrong_factor", "made up")
