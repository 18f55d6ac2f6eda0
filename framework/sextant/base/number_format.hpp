// Formats that positional numbers are stored in, and the nearest number that each holds.
#pragma once
#include <sextant/base/kokkos.hpp>

#include <cmath>

namespace sextant {

enum class Format { fp64, fp32, bf16, fp16, int8, int4 };

constexpr char const* name_of(Format format) {
  constexpr char const* names[] = {"fp64", "fp32", "bf16", "fp16", "int8", "int4"};
  return names[static_cast<int>(format)];
}
/// Whether it holds multiples of a step, not a floating point.
KOKKOS_INLINE_FUNCTION bool is_integer(Format format) { return format == Format::int8 || format == Format::int4; }

/// To `digits` significant bits with exponents from `least` up (denormals below), ties to even; past `most`, infinity.
KOKKOS_INLINE_FUNCTION double round_binary(double value, int digits, int least, double most) {
  if (value == 0 || value - value != 0) return value;
  int exponent = 0;
  ::frexp(value, &exponent);
  double const unit = ::ldexp(1.0, (exponent > least ? exponent : least) - digits);
  double const out = ::nearbyint(value / unit) * unit;
  return ::fabs(out) > most ? ::copysign(HUGE_VAL, value) : out;
}
/// To k / steps of `largest`, k whole, from -steps to steps.
KOKKOS_INLINE_FUNCTION double round_whole(double value, double steps, double largest) {
  double const unit = largest / steps;
  if (!(unit > 0)) return 0;
  double const k = ::nearbyint(value / unit);
  return (k < -steps ? -steps : k > steps ? steps : k) * unit;
}

/// The nearest number that the format holds, ties to even. Integers hold k / 127 and k / 7 of `largest`, k from -127 to 127
/// and from -7 to 7; floating-point formats ignore `largest`. fp16 overflows to infinity past 65504.
KOKKOS_INLINE_FUNCTION double round_to(Format format, double value, double largest = 1) {
  switch (format) {
    case Format::fp64:
      return value;
    case Format::fp32:
      return static_cast<double>(static_cast<float>(value));
    case Format::bf16:
      return round_binary(value, 8, -125, 3.3895313892515355e38);
    case Format::fp16:
      return round_binary(value, 11, -13, 65504);
    case Format::int8:
      return round_whole(value, 127, largest);
    case Format::int4:
      return round_whole(value, 7, largest);
  }
  return value;
}

/// How cos and sin of rotary pairs are stored, and the angles that they are formed of.
struct TableFormat {
  Format table = Format::fp64;  ///< of cos and sin: fp64 keeps them as they are
  Format angle = Format::fp64;  ///< of phase, frequency and their product; never an integer
  bool exact() const { return table == Format::fp64 && angle == Format::fp64; }
  bool operator==(TableFormat const&) const = default;
};

/// phase * inv_freq, both and their product kept in the format.
KOKKOS_INLINE_FUNCTION double angle_in(Format format, double phase, double inv_freq) {
  return round_to(format, round_to(format, phase) * round_to(format, inv_freq));
}

}  // namespace sextant
