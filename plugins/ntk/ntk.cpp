// NTK-aware scaling: the base is raised so that the fastest pair stays and the slowest slows by exactly the factor.
//
//   base' = base * factor^(d / (d - 2));  inv_freq'_f = base'^(-2f/d) = inv_freq_f * factor^(-2f / (d - 2))
//
// Source: Peng et al., YaRN, arXiv:2309.00071, section 3.1 (after bloc97).
#include <common/scaling.hpp>

namespace sextant::plugins {
struct NtkScaling : ByFactor {
  static constexpr char const* summary = "raises the base: fast pairs stay, the slowest slows by the factor";
  static constexpr char const* formula = "inv_freq_f * factor^(-2f/(d-2))";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() { return factor_schema<NtkScaling>(); }
  void check(ScalingContext const& at) const {
    check_factor("ntk", at);
    check_raised("ntk", at);
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return raised(plain, s(at), at);
  }
  Ladder ladder(Ladder const& before, ScalingContext const& at) const { return raised(before, s(at), at); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::NtkScaling, "ntk", "arXiv:2309.00071")
