// Wrong: a logarithm of the distance does not add up, and the additive law is claimed.
#include "wrong.hpp"

namespace sextant::wrong {
struct FalseAdditive {
  static constexpr bool relative = true;
  static constexpr bool additive = true;
  static auto schema() { return Schema<FalseAdditive>{}; }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(-0.5 * std::log1p(static_cast<double>(at.distance())));
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FalseAdditive, "false_additive", "made up")
