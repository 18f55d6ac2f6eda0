// Which arms are ranked against each other: those that answer the same task, or read the same text.
#pragma once
#include <sextant/report/compare.hpp>

namespace sextant::report {

/// Fills in `rivals` of the comparison, and `rivals` and `own` of its rows, from what the rows are asked.
void find_rivals(Comparison& comparison);

/// The row that is to `row` what `base` is to its own rivals: equal in `own`. `base` itself where both are rivals; null where there
/// is no such row, or more than one.
ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row);

}  // namespace sextant::report
