// Wrong: another constant in float32.
#include "wrong.hpp"

namespace sextant::wrong {
struct FloatConstant {
  static auto schema() { return Schema<FloatConstant>{}; }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    double const rate = std::is_same_v<Scalar<T>, float> ? 0.101 : 0.1;
    return T(-rate * at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FloatConstant, "float_constant", "made up")
