// Sentences drawn from a comparison's numbers.
#pragma once
#include <sextant/report/compare.hpp>

#include <string>
#include <vector>

namespace sextant::report {

/// Who is best at the longest length, among all that were asked the same, and how far arms move to it. Every number is in the
/// table too. Empty when nothing was measured.
std::vector<std::string> findings_of(Comparison const& comparison);

}  // namespace sextant::report
