// Position interpolation: every frequency divided by the factor, as if positions were squeezed into the trained range.
//
//   inv_freq_f / factor
//
// Source: Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation",
// arXiv:2306.15595.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct LinearScaling {
  std::optional<double> factor;

  static constexpr char const* summary = "position interpolation: positions squeezed by the factor";
  static constexpr char const* formula = "inv_freq / factor";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() {
    return Schema<LinearScaling>{}.option("factor", &LinearScaling::factor,
                                          "target length / trained length; 8 reaches eight times as far", at_least(1),
                                          MayBeAuto{"evaluated length / trained length, at least 1"}, required);
  }
  void check(ScalingContext const& at) const {
    expect(factor || at.trained_length > 0,
           "linear.factor is auto, and the trained length it follows from is not known");
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return plain / T(factor.value_or(at.needed_factor()));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LinearScaling, "linear", "arXiv:2306.15595")
