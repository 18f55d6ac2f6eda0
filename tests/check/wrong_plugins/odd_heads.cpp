// Wrong: slopes for powers of two alone; other head counts get the logarithm of a negative number.
#include "wrong.hpp"

namespace sextant::wrong {
struct OddHeads {
  static constexpr bool relative = true;
  static auto schema() { return Schema<OddHeads>{}; }
  template <class T>
  struct Weights {
    T slope;
  };
  bool trains() const { return false; }
  Weights<double> init(int head, int heads) const {
    bool const power = (heads & (heads - 1)) == 0;
    return {std::exp2(-(head + 1.0)) * std::log2(power ? 4.0 : -1.0)};
  }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.slope * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::OddHeads, "odd_heads", "made up")
