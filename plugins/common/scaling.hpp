// What scalings of this folder share: the factor, the trained length, and mixes of kept and interpolated frequencies.
#pragma once
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {

/// A scaling by one factor s, which may follow from the run.
struct ByFactor {
  std::optional<double> factor;
  double s(ScalingContext const& at) const { return factor.value_or(at.needed_factor()); }
  void check_factor(char const* name, ScalingContext const& at) const {
    expect(factor || at.trained_length > 0, name,
           ".factor is auto, and the trained length it follows from is not known");
  }
};
template <class P>
Schema<P> factor_schema() {
  return Schema<P>{}.option("factor", static_cast<std::optional<double> P::*>(&P::factor),
                            "target length / trained length; 8 reaches eight times as far", at_least(1),
                            MayBeAuto{"evaluated length / trained length, at least 1"}, required);
}

/// A scaling that asks how long the model was trained.
struct ByLength {
  std::optional<int> original_length;
  /// Tokens, L.
  double trained(ScalingContext const& at) const { return original_length ? *original_length : at.trained_length; }
  /// s of a sequence: its length in trained lengths, and 1 within the first.
  double reach(ScalingContext const& at) const { return std::max(at.length / trained(at), 1.0); }
  void check_length(char const* name, ScalingContext const& at) const {
    expect(trained(at) > 0, name, " needs original_length: the trained length is not known");
  }
};
template <class P>
Schema<P> length_option(Schema<P> schema) {
  return std::move(schema).option("original_length", static_cast<std::optional<int> P::*>(&P::original_length),
                                  "length the model was trained at before any extension", at_least(1), Unit{"tokens"},
                                  MayBeAuto{"position.trained_length"});
}

/// keep = 1 leaves a frequency, 0 divides it by s.
template <class T>
T kept_or_divided(T const& plain, T const& keep, double s) {
  return s == 1 ? plain : plain * (keep + (T(1) - keep) / T(s));
}

/// A ramp over the turns that a pair makes within the trained length: below `low` the frequency is divided by s, above
/// `high` it stays.
template <class T>
T by_turns(T const& plain, double trained, double low, double high, double s) {
  T const turns = math::abs(plain) * T(trained / (2 * std::numbers::pi));
  return kept_or_divided(plain, math::min(math::max((turns - T(low)) / T(high - low), T(0)), T(1)), s);
}

/// The ladder of a base multiplied by `by`^(n / (n - 2)): the slowest pair slows by exactly `by`, the fastest stays.
template <class T>
T raised(T const& plain, double by, ScalingContext const& at) {
  return plain * T(std::pow(by, -2.0 * at.pair / (at.rotary_dim - 2.0)));
}
inline Ladder raised(Ladder const& before, double by, ScalingContext const& at) {
  double const n = at.rotary_dim;
  return {before.base * std::pow(by, n / (n - 2)), before.first};
}
inline void check_raised(char const* name, ScalingContext const& at) {
  expect(at.rotary_dim > 2, name, " needs at least two rotary pairs, found rotary_dim ", at.rotary_dim);
}

/// The ladder with another base.
template <class T>
T rebased(T const& plain, double base, ScalingContext const& at) {
  return plain * T(std::pow(base / *at.base, -2.0 * at.pair / at.rotary_dim));
}
inline void check_rebased(char const* name, ScalingContext const& at) {
  expect(at.base.has_value(), name, " needs frequencies on the ladder of one base, and there is none here");
}

}  // namespace sextant::plugins
