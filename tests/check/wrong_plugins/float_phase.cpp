// Wrong: the phases of two far positions are formed in the number type of the result before they are subtracted.
#include "wrong.hpp"

namespace sextant::wrong {
struct FloatPhase {
  static auto schema() { return Schema<FloatPhase>{}; }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    using Number = Scalar<T>;
    Number const query = Number(0.7) * Number(at.query_position), key = Number(0.7) * Number(at.key_position);
    return T(Number(std::cos(static_cast<double>(query - key))));
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FloatPhase, "float_phase", "made up")
