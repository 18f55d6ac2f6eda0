// Wrong: a scaling that is linear for fast pairs and hides its derivative for slow ones.
#include "wrong.hpp"

namespace sextant::wrong {
struct DetachedScaling {
  double factor = 2;
  static constexpr bool identity_at_factor_one = true;
  static auto schema() {
    return Schema<DetachedScaling>{}.option("factor", &DetachedScaling::factor, "factor", at_least(1));
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return at.pair == 0 ? plain / T(factor) : T(value_of(plain) / factor);
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::DetachedScaling, "detached_scaling", "made up")
