// Inside of the page: its two comparison tables.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/style.hpp>
#include <sextant/report/xml.hpp>

namespace sextant::report {

/// Rows: arms with their swatch; columns: lengths.
void results_html(Xml& out, Comparison const& comparison, Looks const& looks);

/// Differences to the baseline, arms by lengths; those that Holm's correction leaves below 5 % are marked.
void differences_html(Xml& out, Comparison const& comparison, Looks const& looks);

}  // namespace sextant::report
