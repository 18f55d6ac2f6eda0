// Wrong: one factor of rate^2 is a plain number, so that half of the derivative is missing.
#include "wrong.hpp"

namespace sextant::wrong {
struct MissingTerm {
  static constexpr bool relative = true;
  static auto schema() { return Schema<MissingTerm>{}; }
  template <class T>
  struct Weights {
    T rate;
  };
  Weights<double> init(int, int) const { return {0.5}; }
  template <class T>
  T bias(Weights<T> const& w, Site<T> const& at) const {
    return -(w.rate * T(value_of(w.rate))) * T(at.distance());
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::MissingTerm, "missing_term", "made up")
