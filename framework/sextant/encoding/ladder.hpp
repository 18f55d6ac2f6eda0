// The ladder of frequencies that rotary encodings share, and the options that it comes with.
#pragma once
#include <sextant/encoding/formula.hpp>
#include <sextant/encoding/schema.hpp>

#include <cmath>

namespace sextant::encoding {

/// base^(-2 pair / n) radians per token: 1 at pair 0, falling over the n / 2 pairs of n channels.
inline double ladder(double base, int pair, int n) { return std::pow(base, -2.0 * pair / n); }

/// What a spec may call the layouts; the first is the usual default.
inline constexpr std::initializer_list<std::pair<char const*, Layout>> layout_words{
    {"half", Layout::half}, {"interleaved", Layout::interleaved}};
constexpr auto layouts() { return layout_words; }

/// RoPE's turn as the base of a plugin that differs from it in positions only:
///
///   struct Rerope : LadderTurn { ...; static auto schema() { return ladder_schema<Rerope>().option(...); } };
struct LadderTurn {
  double base = 10000;
  Layout layout = Layout::half;
  std::optional<int> rotary_dim;

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = rotary_dim.value_or(shape.head_dim / 2 * 2), .layout = layout, .base = base};
  }
  template <class T, class W>
  T inv_freq(W const&, int pair, Rotary const& form) const {
    return T(ladder(base, pair, form.rotary_dim));
  }
};

/// A schema that begins with base, layout and rotary_dim of a plugin derived from LadderTurn.
template <class P>
Schema<P> ladder_schema() {
  return Schema<P>{}
      .option("base", static_cast<double P::*>(&P::base), "theta: ratio of the slowest wavelength to the fastest",
              above(1))
      .choice("layout", static_cast<Layout P::*>(&P::layout),
              "which channels form a pair: (f, f + n/2) or (2f, 2f + 1)", layouts())
      .option("rotary_dim", static_cast<std::optional<int> P::*>(&P::rotary_dim),
              "channels of a head that turn; the others pass through", at_least(2), Unit{"channels"},
              MayBeAuto{"head_dim, or one less where that is odd"});
}

}  // namespace sextant::encoding
