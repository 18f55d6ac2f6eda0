// Wrong: the bias rewards distance where the declared equality says ALiBi.
#include "wrong.hpp"

namespace sextant::wrong {
struct FlippedSign {
  static constexpr bool relative = true;
  static auto schema() { return Schema<FlippedSign>{}; }
  static std::vector<Equality> equals() { return {{"of one slope", {}, {"alibi", {{"slope_exponent", 4.0}}, {}}, {}}}; }
  template <class T>
  struct Weights {
    T slope;
  };
  bool trains() const { return false; }
  Weights<double> init(int head, int heads) const { return {std::exp2(-4.0 * (head + 1) / heads)}; }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return w.slope * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FlippedSign, "flipped_sign", "made up")
