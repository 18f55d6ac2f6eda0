// Wrong: a scaling whose frequencies depend on the length of the sequence, which it does not declare.
#include "wrong.hpp"

namespace sextant::wrong {
struct SecretLength {
  double factor = 2;
  static auto schema() { return Schema<SecretLength>{}.option("factor", &SecretLength::factor, "factor", at_least(1)); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return plain / T(at.length > 30 ? 2 * factor : factor);
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::SecretLength, "secret_length", "made up")
