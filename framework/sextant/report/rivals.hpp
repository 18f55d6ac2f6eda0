// Which arms are ranked against each other: those that answer the same task, or read the same text.
#pragma once
#include <sextant/report/compare.hpp>

namespace sextant::report {

/// Rows of a comparison that were asked the same. Those of which it is not known are one group of their own, or the same as all
/// where no more than one question is known.
struct Rivals {
  std::string name;               ///< what their labels share, "sort" of "nope / sort" and "rope / sort"; may be empty
  std::vector<std::size_t> rows;  ///< ascending
};
/// Every row once, in the order in which each group begins.
std::vector<Rivals> rivals_of(Comparison const& comparison);

/// The row that is to `row` what `base` is to its own rivals: labelled as `base` but for what rivals share. `base` itself where both
/// are rivals; null where there is no such row, or more than one.
ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row);

}  // namespace sextant::report
