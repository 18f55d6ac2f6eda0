// A control, not a method: linear interpolation as a misprint has it, the factor inside the exponent.
//
//   inv_freq'_f = base^(-2f / (s d)) = inv_freq_f^(1/s)
//
// Slow pairs speed up where interpolation slows all of them by s: at d = 128, base 10000 and s = 8 the slowest pair ends
// 22300 times as fast as linear has it. Studies use it to show that a wrong formula is noticed.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct LinearExponent : ByFactor {
  static constexpr char const* summary = "control: linear with the factor misprinted into the exponent";
  static constexpr char const* formula = "inv_freq^(1/s)";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() { return factor_schema<LinearExponent>(); }
  void check(ScalingContext const& at) const { check_factor("linear_exponent", at); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    if (s(at) == 1) return plain;
    T const size = value_of(plain) < 0 ? -plain : plain;
    T const out = math::exp(math::log(size) / T(s(at)));
    return value_of(plain) < 0 ? -out : out;
  }
  Ladder ladder(Ladder const& before, ScalingContext const& at) const {
    return {std::pow(before.base, 1 / s(at)), std::pow(before.first, 1 / s(at))};
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LinearExponent, "linear_exponent", "control")
