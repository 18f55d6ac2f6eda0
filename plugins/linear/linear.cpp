// Position interpolation: every frequency divided by the factor, as if positions were squeezed into the trained range.
//
//   inv_freq_f / factor
//
// Source: Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation",
// arXiv:2306.15595.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct LinearScaling : ByFactor {
  static constexpr char const* summary = "position interpolation: positions squeezed by the factor";
  static constexpr char const* formula = "inv_freq / factor";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() { return factor_schema<LinearScaling>(); }
  void check(ScalingContext const& at) const { check_factor("linear", at); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return plain / T(s(at));
  }
  Ladder ladder(Ladder const& before, ScalingContext const& at) const {
    return {before.base, inv_freq(before.first, at)};
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LinearScaling, "linear", "arXiv:2306.15595")
