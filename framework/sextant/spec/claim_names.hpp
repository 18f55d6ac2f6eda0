// What the names in a claim's test stand for among the arms of a tier.
#pragma once
#include <sextant/claims/expression.hpp>
#include <sextant/spec/spec.hpp>

#include <string>
#include <vector>

namespace sextant::spec {

/// A measured quantity with its arm found: as summary/results names it, and in which units.
struct Settled {
  std::string text;  ///< probe.measure @ length {encoding=..., scaling=...}
  std::string units;
  int windows = 0, span = 0;  ///< how many windows of text, and the longest: where they lie
};

/// Dimensions are `encoding`, `scaling` and whatever varies, by its key, the last word of its key or its name. A scaling
/// that is not given is `none` where that is measured. Throws claims::Fault at the word that is wrong, with the nearest
/// one that is right.
Settled settle(claims::Measured const& quantity, std::vector<Arm> const& arms);

}  // namespace sextant::spec
