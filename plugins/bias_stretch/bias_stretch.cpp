// Stretched biases: a bias formula sees positions divided by the factor, position interpolation for biases.
//
//   alibi: slopes / s;  t5: distances divided by s before they fall into buckets;  kerple: r2 / s inside the kernel;
//   fire: c / s and L0 s, so thresholds move out with the text
//
// Source: framework definition, after Chen et al., arXiv:2306.15595; for ALiBi, Al-Khateeb et al., "Position Interpolation
// Improves ALiBi Extrapolation", arXiv:2310.13017.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct BiasStretch : ByFactor {
  static constexpr char const* summary = "biases see positions squeezed by the factor";
  static constexpr char const* formula = "bias(p_i / factor, p_j / factor)";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() { return factor_schema<BiasStretch>(); }
  void check(ScalingContext const& at) const { check_factor("bias_stretch", at); }
  double stretch(ScalingContext const& at) const { return s(at); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::BiasStretch, "bias_stretch", "arXiv:2310.13017")
