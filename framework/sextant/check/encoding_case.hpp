// Cases that say an encoding in the reference sheet's words, as the position block a user would write.
#pragma once
#include <sextant/check/parameters.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/results/tree.hpp>

#include <functional>
#include <map>

namespace sextant::check {

/// A learned array of a case and the parameter of ours that holds the same numbers.
struct LearnedName {
  std::string theirs;
  std::string ours;         ///< the end of a slot's name: "alibi.slope"
  bool transposed = false;  ///< theirs is [n, heads, ...], ours [heads, n, ...]
  int column = -1;          ///< >= 0: theirs is [heads], this column of ours [heads, n]
};

/// "out/o", "grad/q", ... to row-major numbers in the shape the file has them in.
using Quantities = std::map<std::string, std::vector<double>>;

/// A case at work, for quantities that only one method has.
struct CaseProbe {
  results::Group const& group;
  encoding::Position const& position;
  std::vector<double> positions;  ///< [batch or 1, length] or [.., length, axes]
  int batch = 1, heads = 1, length = 0, head_dim = 1;
  std::function<std::vector<double>(std::size_t)> gate;     ///< after its scan, [batch, heads, length]
  std::function<std::vector<double>(std::size_t)> feature;  ///< [batch, heads, length, width]
  /// Overwrites a parameter of ours (the end of its name), until set again.
  std::function<void(std::string const& ours, std::vector<double> const&)> set;
  std::function<std::vector<double>()> bias;  ///< [batch, heads, length, length] as it stands
};

struct EncodingCase {
  encoding::PositionChoice choice;
  std::vector<LearnedName> learned;
  bool attends = true;  ///< otherwise it only adds to the embedding
  /// Fills what only this method has ("out/rho", ...), before attention. Must leave parameters as they were.
  std::function<void(CaseProbe const&, Quantities&)> own;
  /// What the tensor "in/x" would be for cases that hand over per-token values instead of tokens, with the projections
  /// that pick them out; and the names the gradient with respect to its columns goes by.
  struct Picked {
    std::string theirs;     ///< "in/w_raw" [batch, heads, length(, width)]
    std::string parameter;  ///< end of the name of ours that is set to pick it: [heads, width, model_dim]
  };
  std::vector<Picked> picked;
};

/// The options of a case: its attributes, less those that describe tensors, and the JSON in `params`.
Parameters options_of(results::Group const& group);

/// Nothing for methods without translation. Throws Error for parameters that are absent, wrong or unknown.
/// `learned(name)` tells whether the case brings the learned array of that name.
std::optional<EncodingCase> encoding_case(std::string const& method, Parameters const& options, int heads, int head_dim,
                                          std::function<bool(std::string const&)> const& learned);

}  // namespace sextant::check
