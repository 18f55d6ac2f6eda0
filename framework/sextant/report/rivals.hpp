// Which arms are ranked against each other: those that answer the same task, or read the same text.
#pragma once
#include <sextant/report/compare.hpp>

namespace sextant::report {

/// Rows of a comparison that were asked the same. What nobody knows of counts as the same.
struct Rivals {
  std::string name;               ///< what their labels share, "sort" of "nope / sort" and "rope / sort"; may be empty
  std::vector<std::size_t> rows;  ///< ascending
};
/// Every row once, in the order in which each group begins.
std::vector<Rivals> rivals_of(Comparison const& comparison);

/// The row that is to `row` what `base` is to its own rivals: the encoding of `base` asked what `row` is. `base` itself where both
/// are rivals, null where there is no such row.
ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row);

}  // namespace sextant::report
