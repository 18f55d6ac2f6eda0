// Sliding window: a query sees the keys less than `window` tokens away, itself included.
//
//   logit(i, j) += 0 for |p_i - p_j| < window,  -infinity beyond
//
// Source: Beltagy, Peters and Cohan, "Longformer", arXiv:2004.05150, section 3.1. The causal mask is the model's: with it
// the last `window` tokens are seen. Distances are of positions, so that the window does not depend on chunks or packing.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct SlidingWindow {
  double window = 512;

  static constexpr char const* summary = "hides keys that are not among the last `window` tokens";
  static constexpr char const* formula = "logit(i, j) = -infinity where |p_i - p_j| >= window";
  static constexpr bool relative = true;

  static std::vector<Example> examples() { return {{{{"window", 3.0}}, {}}}; }
  static std::vector<Equality> equals() {
    return {{"with a window past the row", {{{"window", 1e6}}, {}}, {"nope", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<SlidingWindow>{}.option("window", &SlidingWindow::window,
                                          "keys less than this far away are seen; 1: only the token itself", positive,
                                          Unit{"tokens"});
  }

  template <class T>
  KOKKOS_FUNCTION T bias(NoWeights<T> const&, Site<T> const& at) const {
    return at.distance() < window ? T(0) : T(-std::numeric_limits<Scalar<T>>::infinity());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::SlidingWindow, "sliding_window", "arXiv:2004.05150")
