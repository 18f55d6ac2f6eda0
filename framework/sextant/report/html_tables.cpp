#include <sextant/base/error.hpp>
#include <sextant/report/chart.hpp>
#include <sextant/report/html_tables.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
// The scroll box, the table and its head: a column a length. Both end with the scope.
struct Matrix {
  Xml::Scope scroll, table;
};
Matrix matrix(Xml& out, Comparison const& comparison, std::string const& label) {
  auto scroll = out.element("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}});
  auto table = out.element("table", {{"class", "results wide-table"}});
  {
    auto const head = out.element("thead");
    auto const row = out.element("tr");
    out.text("th", {{"scope", "col"}}, "encoding");
    for (auto const length : comparison.lengths) {
      bool const trained = comparison.trained_length == length;
      auto const th = out.element("th", {{"scope", "col"}, {trained ? "class" : "", "trained"}});
      if (trained) out.text("small", {}, "trained");
      out.text(grouped(length));
      out.text("span", {{"class", "mark"}}, "");
    }
  }
  return {std::move(scroll), std::move(table)};
}

void arm_heading(Xml& out, ComparisonRow const& row, Looks const& looks) {
  auto const th = out.element("th", {{"scope", "row"}, {"title", row.label}});
  out.raw(swatch(looks.of(row.arm)));
  auto const name = out.element("span", {{"class", "name"}});
  for (std::size_t from = 0; from < row.label.size();) {  // a long name may break after these, rather than anywhere
    std::size_t const end = std::min(row.label.find_first_of("(+_/", from), row.label.size() - 1) + 1;
    out.text(row.label.substr(from, end - from));
    if (end < row.label.size()) out.void_element("wbr", {});
    from = end;
  }
}

// A place of fixed width after every number, so that the numbers stay in line.
void mark_html(Xml& out, char const* sign, char const* meaning) {
  if (*sign)
    out.text("span", {{"class", "mark"}, {"role", "img"}, {"aria-label", meaning}}, sign);
  else
    out.text("span", {{"class", "mark"}}, "");
}

void html_cell(Xml& out, Comparison const& comparison, Cell const& cell, std::size_t column, int decimals) {
  std::string classes = cell.mark == Mark::best ? "best" : cell.mark == Mark::tied ? "tied" : "plain";
  if (!cell.summary.mean) classes += " none";
  if (comparison.trained_length == comparison.lengths[column]) classes += " trained";
  auto const td = out.element("td", {{"class", classes}});
  if (!cell.summary.mean) {
    out.text(cell.summary.not_finite > 0 ? "not finite" : std::string(missing));
    return mark_html(out, "", "");
  }
  out.text(fixed(*cell.summary.mean, decimals));
  if (cell.summary.interval)
    out.text("span", {{"class", "pm"}}, cat({"± ", fixed(cell.summary.interval->half(), decimals)}));
  if (cell.summary.not_finite > 0)
    out.text("small", {}, cat({" (", std::to_string(cell.summary.not_finite), " not finite)"}));
  else if (static_cast<std::size_t>(cell.summary.n) < comparison.seeds.size())
    out.text("small", {}, cat({" (n=", std::to_string(cell.summary.n), ")"}));
  if (cell.mark == Mark::best) return mark_html(out, "●", "best");
  if (cell.mark == Mark::tied) return mark_html(out, "○", "tied with the best");
  mark_html(out, "", "");
}

void difference_cell(Xml& out, Comparison const& comparison, Cell const& cell, std::size_t column, int decimals) {
  auto const& versus = cell.versus;
  bool const clear = cell.p_adjusted && *cell.p_adjusted < 0.05;
  bool const better = versus.difference && (*versus.difference < 0) == comparison.lower_is_better;
  std::string classes = !clear ? "unclear" : better ? "better" : "worse";
  if (comparison.trained_length == comparison.lengths[column]) classes += " trained";
  auto const td = out.element("td", {{"class", classes}});
  if (!versus.difference) {
    out.text(missing);
    return mark_html(out, "", "");
  }
  out.text(with_sign(*versus.difference, decimals));
  if (versus.interval) out.text("span", {{"class", "pm"}}, cat({"± ", fixed(versus.interval->half(), decimals)}));
  mark_html(out, clear ? "●" : "", better ? "better" : "worse");
  if (cell.p_adjusted) out.text("small", {{"class", "p"}}, cat({"p ", p_value(*cell.p_adjusted)}));
}

void notes_html(Xml& out, std::vector<std::string> const& notes) {
  auto const list = out.element("ul", {{"class", "notes"}});
  for (std::string const& note : notes) {
    auto const item = out.element("li");
    std::size_t const key = note.starts_with("●") || note.starts_with("○") ? std::string_view("●").size() : 0;
    if (key > 0) out.text("span", {{"class", "key"}}, note.substr(0, key));
    out.text(note.substr(key));
  }
}
}  // namespace

void results_html(Xml& out, Comparison const& comparison, Looks const& looks) {
  int const decimals = decimals_of(comparison);
  Table const table = results_table(comparison);
  {
    auto const element = matrix(out, comparison, table.title);
    auto const body = out.element("tbody");
    for (auto const& row : comparison.rows) {
      auto const tr = out.element("tr", {{row.arm.scaled() ? "class" : "", "sub"}});
      arm_heading(out, row, looks);
      for (std::size_t i = 0; i < row.cells.size(); ++i) html_cell(out, comparison, row.cells[i], i, decimals);
    }
  }
  notes_html(out, table.notes);
}

void differences_html(Xml& out, Comparison const& comparison, Looks const& looks) {
  int const decimals = decimals_of(comparison);
  Table const table = differences_table(comparison);
  {
    auto const element = matrix(out, comparison, table.title);
    auto const body = out.element("tbody");
    for (auto const& row : comparison.rows) {
      bool const any =
          std::any_of(row.cells.begin(), row.cells.end(), [](Cell const& cell) { return cell.versus.n > 0; });
      if (!any) continue;
      auto const tr = out.element("tr", {{row.arm.scaled() ? "class" : "", "sub"}});
      arm_heading(out, row, looks);
      for (std::size_t i = 0; i < row.cells.size(); ++i) difference_cell(out, comparison, row.cells[i], i, decimals);
    }
  }
  std::vector<std::string> notes;
  if (comparison.tests > 0) {
    notes.emplace_back("Mean difference ± half of its interval, and p after Holm's correction.");
    notes.emplace_back("● told apart: a corrected p below 0.05.");
  }
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  notes_html(out, notes);
}

}  // namespace sextant::report
