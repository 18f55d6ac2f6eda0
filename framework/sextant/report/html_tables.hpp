// Inside of the page: its two comparison tables, and sentences drawn from the numbers.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/style.hpp>
#include <sextant/report/xml.hpp>

#include <string>
#include <vector>

namespace sextant::report {

/// Rows: arms with their swatch; columns: lengths.
void results_html(Xml& out, Comparison const& comparison, Looks const& looks);

/// Differences to the baseline, arms by lengths; those that Holm's correction leaves below 5 % are marked.
void differences_html(Xml& out, Comparison const& comparison, Looks const& looks);

/// What the table says, in a few sentences; every number in them is in the table too. Empty when nothing was measured.
std::vector<std::string> findings_of(Comparison const& comparison);

}  // namespace sextant::report
