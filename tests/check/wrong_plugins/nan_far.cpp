// Wrong: from position 2000 on the bias is the square root of a negative number.
#include "wrong.hpp"

namespace sextant::wrong {
struct NanFar {
  static auto schema() { return Schema<NanFar>{}; }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(0.1 * std::sqrt(2000 - at.key_position));
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::NanFar, "nan_far", "made up")
