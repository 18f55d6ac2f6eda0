// YaRN's ramp and temperature, for the scalings that differ in where the factor comes from.
#pragma once
#include <common/scaling.hpp>

namespace sextant::plugins {

struct YarnRamp : ByLength {
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;

  void check_ramp(char const* name, ScalingContext const& at) const {
    check_rebased(name, at);
    check_length(name, at);
    expect(beta_fast >= beta_slow, name, ".beta_fast is ", beta_fast, ", expected at least beta_slow, ", beta_slow);
  }

  /// Pair whose wavelength fits `rotations` times into the original length.
  double pair_of(double rotations, ScalingContext const& at) const {
    return at.rotary_dim * std::log(trained(at) * at.first / (2 * std::numbers::pi * rotations)) /
           (2 * std::log(*at.base));
  }

  template <class T>
  T scaled(T const& plain, double s, ScalingContext const& at) const {
    double low = pair_of(beta_fast, at), high = pair_of(beta_slow, at);
    if (truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, at.rotary_dim - 1.0);  // the released code's bound, not the last pair
    if (low == high) high += 0.001;
    double const divided = std::min(std::max((at.pair - low) / (high - low), 0.0), 1.0);
    return kept_or_divided(plain, T(1 - divided), s);
  }
};

/// m(x) = 0.1 x ln s + 1, and 1 for s <= 1.
inline double yarn_temperature(double s, double x = 1) { return s <= 1 ? 1.0 : 0.1 * x * std::log(s) + 1; }

template <class P>
Schema<P> ramp_options(Schema<P> schema) {
  return length_option(std::move(schema))
      .option("beta_fast", static_cast<double P::*>(&P::beta_fast),
              "pairs with more rotations than this within the original length stay", positive)
      .option("beta_slow", static_cast<double P::*>(&P::beta_slow),
              "pairs with fewer rotations than this are interpolated whole", positive)
      .option("truncate", static_cast<bool P::*>(&P::truncate), "round the ramp's ends outwards to whole pairs");
}

}  // namespace sextant::plugins
