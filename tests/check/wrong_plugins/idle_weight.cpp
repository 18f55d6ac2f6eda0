// Wrong: two numbers a head are declared and trained, one is read.
#include "wrong.hpp"

namespace sextant::wrong {
struct IdleWeight {
  static constexpr bool relative = true;
  static auto schema() { return Schema<IdleWeight>{}; }
  template <class T>
  struct Weights {
    T slope, onset;
  };
  Weights<double> init(int head, int) const { return {0.1 * (head + 1), 1.0}; }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.slope * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::IdleWeight, "idle_weight", "made up")
