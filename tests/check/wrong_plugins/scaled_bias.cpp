// Wrong: the bias is divided by sqrt(head_dim) as the product is, where the declared equality says ALiBi.
#include "wrong.hpp"

namespace sextant::wrong {
struct ScaledBias {
  static constexpr bool relative = true;
  static auto schema() { return Schema<ScaledBias>{}; }
  static std::vector<Equality> equals() { return {{"of one slope", {}, {"alibi", {{"slope_exponent", 4.0}}, {}}, {}}}; }
  template <class T>
  struct Weights {
    T slope;
  };
  bool trains() const { return false; }
  Weights<double> init(int head, Shape const& shape, Stream const&) const {
    return {std::exp2(-4.0 * (head + 1) / shape.heads) / std::sqrt(shape.head_dim)};
  }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.slope * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::ScaledBias, "scaled_bias", "made up")
