// Wrong: parameters start elsewhere each time they are drawn.
#include "wrong.hpp"

#include <atomic>

namespace sextant::wrong {
struct RestlessStart {
  static constexpr bool relative = true;
  static auto schema() { return Schema<RestlessStart>{}; }
  template <class T>
  struct Weights {
    T slope;
  };
  Weights<double> init(int, int) const {
    static std::atomic<int> drawn = 0;
    return {0.1 + 1e-15 * (drawn++ % 3)};
  }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.slope * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::RestlessStart, "restless_start", "made up")
