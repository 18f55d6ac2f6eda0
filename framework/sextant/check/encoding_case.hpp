// Cases that say an encoding in the reference sheet's words, as the position block a user would write.
#pragma once
#include <sextant/check/parameters.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/results/tree.hpp>

#include <functional>

namespace sextant::check {

/// A learned array of a case and the parameter of ours that holds the same numbers.
struct LearnedName {
  std::string theirs;
  std::string ours;         ///< the end of a slot's name: "alibi.slope"
  bool transposed = false;  ///< theirs is [n, heads], ours [heads, n]
};

struct EncodingCase {
  encoding::PositionChoice choice;
  std::vector<LearnedName> learned;
  bool attends = true;  ///< otherwise it only adds to the embedding
};

/// The options of a case: its attributes, less those that describe tensors, and the JSON in `params`.
Parameters options_of(results::Group const& group);

/// Nothing for methods without translation. Throws Error for parameters that are absent, wrong or unknown.
/// `learned(name)` tells whether the case brings the learned array of that name.
std::optional<EncodingCase> encoding_case(std::string const& method, Parameters const& options, int heads, int head_dim,
                                          std::function<bool(std::string const&)> const& learned);

}  // namespace sextant::check
