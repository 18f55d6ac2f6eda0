// Wrong: an option that nothing reads.
#include "wrong.hpp"

namespace sextant::wrong {
struct UnreadOption {
  double rate = 0.1, floor = 2;
  static constexpr bool relative = true;
  static auto schema() {
    return Schema<UnreadOption>{}
        .option("rate", &UnreadOption::rate, "penalty per token", positive)
        .option("floor", &UnreadOption::floor, "penalty never exceeds this", positive);
  }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(-rate * at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::UnreadOption, "unread_option", "made up")
