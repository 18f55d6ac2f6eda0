// Wrong: what it adds depends on the number of threads.
#include "wrong.hpp"

namespace sextant::wrong {
struct ThreadCount {
  static auto schema() { return Schema<ThreadCount>{}; }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(-0.1 * at.distance() * (1 + 1e-9 * concurrency()));
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::ThreadCount, "thread_count", "made up")
