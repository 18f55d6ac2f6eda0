// Wrong: a scaling that slows every pair a little at factor 1, where it claims to do nothing.
#include "wrong.hpp"

namespace sextant::wrong {
struct FalseIdentity {
  double factor = 2;
  static constexpr bool identity_at_factor_one = true;
  static auto schema() {
    return Schema<FalseIdentity>{}.option("factor", &FalseIdentity::factor, "factor", at_least(1));
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const&) const {
    return plain / T(factor + 0.01);
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FalseIdentity, "false_identity", "made up")
