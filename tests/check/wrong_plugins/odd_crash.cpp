// Wrong: an odd head_dim divides by zero.
#include "wrong.hpp"

namespace sextant::wrong {
struct OddCrash {
  static constexpr bool relative = true;
  static auto schema() { return Schema<OddCrash>{}; }
  void check(Shape const& shape) const {
    int const volatile even = 1 - shape.head_dim % 2;
    int const volatile pairs = shape.head_dim / even;
    expect(pairs > 0, "odd_crash: no pairs");
  }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    return T(-0.1 * at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::OddCrash, "odd_crash", "made up")
