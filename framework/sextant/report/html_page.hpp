// Inside of the page: what its sections share, and the sections that list details.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/style.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/xml.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sextant::report {

/// What stands around the main part of a page.
struct Frame {
  std::string title, generator;
  std::vector<std::pair<std::string, std::string>> headings;  ///< id and title of the sections, for the bar on top
};

/// The whole page around `body`, its <main>. Nothing is loaded from anywhere: the browser holds the page to it.
std::string html_document(Frame const& frame, std::string const& body);

/// A page being written: the study, what was computed of it once, and the markup so far.
struct Page {
  explicit Page(StudyView const& view);

  StudyView const& study;
  std::vector<Arm> arms;
  Looks looks;
  Comparison comparison;  ///< of the main quantity with the default baseline; no rows when nothing was measured
  Xml out;
  std::vector<std::pair<std::string, std::string>> headings;  ///< id and title of the sections so far

  /// <section> with its heading; ends with the scope.
  [[nodiscard]] Xml::Scope section(std::string const& id, std::string const& title, std::string const& lead = "");
  /// <details>, closed, with `fill` as its content; `side` is small print beside its name.
  void fold(std::string const& name, std::string const& side, std::function<void()> const& fill);
  /// Names and values; empty values are left out.
  void facts(Facts const& list);
  /// A table; the first cell of a row is its heading. Numbers stand at the right, `words` at the left.
  void table(std::vector<std::string> const& head, std::vector<std::vector<std::string>> const& rows,
             std::string const& label, bool words = false);
  /// One that is made already: its columns and cells, without its notes.
  void table(Table const& made);
  void code(std::string const& content);
  /// A CSV, folded, with a link that saves it.
  void data(std::string const& name, std::string const& file, std::string const& csv);
};

void arms_section(Page& page);        ///< each arm: values of its seeds, its runs, its settings
void failures_section(Page& page);    ///< failed runs with their messages, and runs that are not finished
void provenance_section(Page& page);  ///< machine, program, plugins, inputs, libraries
void spec_section(Page& page);        ///< the spec as given and resolved
void sources_section(Page& page);     ///< what the study and its plugins cite

}  // namespace sextant::report
