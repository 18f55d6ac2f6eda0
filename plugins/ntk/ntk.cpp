// NTK-aware scaling: the base is raised so that the fastest pair stays and the slowest slows by exactly the factor.
//
//   base' = base * factor^(d / (d - 2));  inv_freq'_f = base'^(-2f/d) = inv_freq_f * factor^(-2f / (d - 2))
//
// Source: Peng et al., YaRN, arXiv:2309.00071, section 3.1 (after bloc97).
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct NtkScaling {
  std::optional<double> factor;

  static constexpr char const* summary = "raises the base: fast pairs stay, the slowest slows by the factor";
  static constexpr char const* formula = "inv_freq_f * factor^(-2f/(d-2))";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() {
    return Schema<NtkScaling>{}.option("factor", &NtkScaling::factor, "target length / trained length", at_least(1),
                                       MayBeAuto{"evaluated length / trained length, at least 1"}, required);
  }
  void check(ScalingContext const& at) const {
    expect(factor || at.trained_length > 0, "ntk.factor is auto, and the trained length it follows from is not known");
    expect(at.rotary_dim > 2, "ntk needs at least two rotary pairs, found rotary_dim ", at.rotary_dim);
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    double const s = factor.value_or(at.needed_factor());
    return plain * T(std::pow(s, -2.0 * at.pair / (at.rotary_dim - 2.0)));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::NtkScaling, "ntk", "arXiv:2309.00071")
