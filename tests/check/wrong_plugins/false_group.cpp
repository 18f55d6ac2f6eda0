// Wrong: the phase wobbles around the position, and the group law is claimed.
#include "wrong.hpp"

namespace sextant::wrong {
struct FalseGroup {
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;
  static auto schema() { return Schema<FalseGroup>{}; }
  Rotary rotary(Shape const& shape) const { return {.rotary_dim = shape.head_dim / 2 * 2}; }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const&) const {
    return T(1.0 / (1 + pair));
  }
  double phase(double position) const { return position + 0.2 * std::sin(position); }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FalseGroup, "false_group", "made up")
