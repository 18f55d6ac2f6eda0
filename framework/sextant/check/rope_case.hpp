// Cases that say a rotary encoding in transformers' words (rope_theta, partial_rotary_factor, factor, ...), as the
// position block a user would write: the words are read by the room dialect, as those of a config.json are.
#pragma once
#include <sextant/check/parameters.hpp>
#include <sextant/encoding/registry.hpp>

namespace sextant::check {

struct RopeCase {
  int head_dim = 0;
  double length = 0;  ///< of the sequence, in tokens; 0: not given
  encoding::PositionChoice choice;
};

/// Nothing for methods that have no translation here. `layout` is half or interleaved. Throws Error for parameters
/// that are absent, of the wrong kind, or not known. A scaling that is not loaded is named in `choice` without its options.
std::optional<RopeCase> rope_case(std::string const& method, Parameters const& params, std::string const& layout,
                                  encoding::Registry const& registry);

/// The first plugin of a choice that the registry lacks, or "".
std::string absent_plugin(encoding::PositionChoice const& choice, encoding::Registry const& registry);

}  // namespace sextant::check
