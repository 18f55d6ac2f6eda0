// The report page: one HTML file that needs nothing else, neither network nor server.
#pragma once
#include <sextant/report/study.hpp>

#include <string>

namespace sextant::report {

/// The whole page: question, result table, plots with their data, differences, arms, failures, provenance, spec, sources.
/// Every text of the study is escaped. A study without rows gives a page that says so.
std::string html_report(StudyView const& study);

/// The result table as the end of `sextant run` prints it to the terminal `fd`.
std::string terminal_table(StudyView const& study, int fd);

}  // namespace sextant::report
