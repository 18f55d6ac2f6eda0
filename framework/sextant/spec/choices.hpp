// The two keys of a spec whose contents plugins define: position.encoding and position.scaling.
//
//   rope                                           a plugin by name
//   {use: rope, theta: 500000}                     with options
//   [rope, alibi]                                  encodings in a list are summed, scalings applied in order
//   {use: direct_sum, shares: [3, 1], parts: [rope, alibi]}   a composite
//   {use: rope, layers: {every: 4, from: 3}}       in some layers only; or layers: [0, 2]
//   none                                           scalings only: none at all
#pragma once
#include <sextant/encoding/choice.hpp>
#include <sextant/spec/field.hpp>

#include <string>
#include <vector>

namespace sextant::spec {

/// Every option checked by the plugin's schema and every default filled in. Throws Error with place and path for an
/// unknown plugin or option, a missing or wrong one, parts where none are taken.
std::vector<encoding::Choice> read_choices(Node const& node, encoding::Role role, std::string const& path,
                                           Reading& reading);

/// Reads back to the same choices. Options that were not given are named in `defaulted`.
Written write_choices(std::vector<encoding::Choice> const& choices, encoding::Role role, std::string const& path,
                      Reading const& reading);

}  // namespace sextant::spec
