// Published numbers beside what a study measures.
#pragma once
#include <sextant/report/html_page.hpp>
#include <sextant/report/table.hpp>

namespace sextant::report {

/// One row a number: as published, and ours with half its interval over seeds, a dash where there is none.
Table published_table(StudyView const& study, claims::PublishedTable const& published);

/// One line a number, in full: title, source, name, published, units, ours, low, high, n, ours_units, quantity.
std::string published_csv(StudyView const& study);

/// All tables of the study. Throws Error when it keeps none.
std::string render_published(StudyView const& study, Format format, TerminalLook const& look = {});

/// A table each, with its source. Nothing without them.
void published_section(Page& page);

}  // namespace sextant::report
