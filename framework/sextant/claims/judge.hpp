// From claims and a study to verdicts. docs/claims.md says why these statistics.
#pragma once
#include <sextant/claims/data.hpp>

#include <filesystem>

namespace sextant::claims {

/// The claims of a list, judged together: holds when its p-value, corrected over the list, is at most family_error;
/// fails when the p-value of its opposite is, corrected likewise. Random draws are named by counters: the same study and
/// claims give the same bits.
Judgement judge(Claims const& claims, results::Group const& study);

/// summary/claims of a study file: what was claimed, and what came of it.
results::Group to_group(Judgement const& judgement);
/// Reads it back. Throws Error when a column is missing or of another type.
Judgement from_group(results::Group const& group);
/// The claims that a file holds, without their outcomes.
Claims claims_of(Judgement const& judgement);

/// One relation of a test as statistics see it.
struct Link {
  std::size_t left = 0;  ///< side; the right one follows it
  Relation relation = Relation::less;
  bool relative = false;
  double margin = 0;  ///< in the units of the effect
};
std::vector<Link> links_of(Test const& test, Margin const& margin);
statistics::Effect effect_of(Test const& test, Link const& link);
/// How far inside its bound an effect lies; below 0: outside.
double slack(double effect, Link const& link);

}  // namespace sextant::claims
