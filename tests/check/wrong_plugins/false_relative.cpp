// Wrong: the phase bends with the position, and the relative law is claimed.
#include "wrong.hpp"

namespace sextant::wrong {
struct FalseRelative {
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static auto schema() { return Schema<FalseRelative>{}; }
  Rotary rotary(Shape const& shape) const { return {.rotary_dim = shape.head_dim / 2 * 2}; }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const&) const {
    return T(1.0 / (1 + pair));
  }
  double phase(double position) const { return 3 * std::sqrt(1 + std::abs(position)); }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FalseRelative, "false_relative", "made up")
