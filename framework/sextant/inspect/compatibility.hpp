// What composes with what, asked of the plugins themselves: a combination works if a position block can be made of it, and
// is refused with the words of the Error otherwise. Nothing is kept by hand.
#pragma once
#include <sextant/encoding/position.hpp>

#include <string>
#include <vector>

namespace sextant::inspect {

enum class Composition {
  scaling,   ///< first under the scaling second
  sum,       ///< [first, second]
  channels,  ///< direct_sum over channels, half each
  heads      ///< direct_sum over heads, half each
};
char const* name_of(Composition composition);
encoding::PositionChoice compose(Composition composition, encoding::Choice const& first,
                                 encoding::Choice const& second);

struct Combination {
  Composition composition;
  int first = 0, second = 0;  ///< index among encodings; second among scalings for Composition::scaling
  std::string reason;         ///< why it is refused; empty: it works
};

struct Compatibility {
  std::vector<encoding::Choice> encodings, scalings;
  std::vector<std::string> not_asked;     ///< plugins that no example says how to use, and what they miss
  std::vector<Combination> combinations;  ///< every scaling, then every ordered pair in each other composition
  int working(Composition composition) const;
};

/// The plugin with its defaults, or with its first example where it has required options; required options that may be
/// `auto` are. Throws Error where that leaves an option open.
encoding::Choice choice_of(encoding::Description const& plugin);

/// Four heads of 64 channels, trained at 64 tokens, used at 128.
encoding::Shape compatibility_shape();
Compatibility compatibility(encoding::Registry const& registry);

}  // namespace sextant::inspect
