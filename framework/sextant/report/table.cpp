#include <sextant/base/error.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
std::string confidence_text(double confidence) {
  double const value = 100 * confidence;
  return cat({fixed(value, value == std::round(value) ? 0 : 1), " %"});
}

std::string signed_or_missing(std::optional<double> value, int decimals) {
  return value ? with_sign(*value, decimals) : std::string(missing);
}
std::string p_or_missing(std::optional<double> p) { return p ? p_value(*p) : std::string(missing); }

std::string interval_name(Comparison const& comparison) {
  char const* const method = comparison.method == Method::student_t ? " Student-t interval" : " bootstrap interval";
  return cat({confidence_text(comparison.confidence), method});
}

TableCell result_cell(Cell const& cell, std::size_t most_seeds, int decimals) {
  auto const& summary = cell.summary;
  if (!summary.mean) return {summary.not_finite > 0 ? "not finite" : std::string(missing), Mark::none, true};
  std::string text = mean_text(summary, decimals);
  if (summary.not_finite > 0)
    text += cat({" (", std::to_string(summary.not_finite), " not finite)"});
  else if (static_cast<std::size_t>(summary.n) < most_seeds)
    text += cat({" (n=", std::to_string(summary.n), ")"});
  return {text, cell.mark, false};
}

std::string seeds_sentence(Comparison const& comparison) {
  std::size_t const n = comparison.seeds.size();
  if (n < 2) return "One seed: no interval and no test can be given.";
  return cat({"Mean ± half of the ", interval_name(comparison), " over ", std::to_string(n), " seeds."});
}

std::vector<std::string> result_notes(Comparison const& comparison) {
  std::vector<std::string> notes{seeds_sentence(comparison)};
  bool best = false, tied = false, unfinished = false;
  for (auto const& row : comparison.rows)
    for (auto const& cell : row.cells) {
      best = best || cell.mark == Mark::best;
      tied = tied || cell.mark == Mark::tied;
      unfinished = unfinished || !cell.complete;
    }
  if (best)
    notes.push_back(cat({"● ", comparison.lower_is_better ? "lowest" : "highest", " of its column",
                         comparison.rivals.size() > 1 ? ", among the arms that answer the same." : "."}));
  if (tied)
    notes.emplace_back(comparison.seeds.size() < 2
                           ? "○ exactly equal to it."
                           : "○ not told apart from it: the interval of the paired difference holds zero.");
  if (unfinished) notes.emplace_back("A cell that lacks a seed or holds a value that is not finite is never marked.");
  return notes;
}
}  // namespace

int decimals_of(Comparison const& comparison) {
  double largest = 0;
  for (auto const& row : comparison.rows)
    for (auto const& cell : row.cells)
      if (cell.summary.mean) largest = std::max(largest, std::abs(*cell.summary.mean));
  return decimals_for(largest);
}

std::string mean_text(Summary const& found, int decimals) {
  std::string out = fixed(found.mean, decimals);
  if (found.interval) out += cat({" ± ", fixed(found.interval->half(), decimals)});
  return out;
}

Table results_table(Comparison const& comparison) {
  auto const& quantity = comparison.quantity;
  Table table;
  table.title = cat({quantity.probe, ", ", quantity.region, " ", quantity.metric, bracketed(comparison.units),
                     " by length in tokens"});
  table.columns.push_back({"encoding", Align::left});
  for (auto const length : comparison.lengths) {
    bool const trained = comparison.trained_length == length;
    table.columns.push_back({cat({grouped(length), trained ? " (trained)" : ""}), Align::right, trained});
  }
  int const decimals = decimals_of(comparison);
  for (auto const& row : comparison.rows) {
    std::vector<TableCell> cells{{row.label}};
    for (auto const& cell : row.cells) cells.push_back(result_cell(cell, comparison.seeds.size(), decimals));
    table.rows.push_back(std::move(cells));
  }
  table.notes = result_notes(comparison);
  for (auto const& row : comparison.rows)
    if (!row.failed.empty())
      table.notes.push_back(cat({row.label, ": ", std::to_string(row.failed.size()), " failed; ", row.failed.front()}));
  return table;
}

Table differences_table(Comparison const& comparison) {
  int const decimals = decimals_of(comparison);
  Table table;
  table.title = cat({"Paired differences", bracketed(comparison.units), ", arm minus baseline, seed by seed"});
  table.columns = {{"encoding", Align::left},
                   {"baseline", Align::left},
                   {"length"},
                   {"difference"},
                   {cat({confidence_text(comparison.confidence), " interval"})},
                   {"p"},
                   {"p (Holm)"},
                   {"effect"},
                   {"seeds"}};
  bool alike = false;
  for (auto const& row : comparison.rows) {
    if (row.baseline.empty()) continue;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      Cell const& cell = row.cells[i];
      auto const& v = cell.versus;
      if (v.n == 0) continue;
      alike = alike || (v.p && !v.effect);
      std::string const range =
          v.interval ? cat({with_sign(v.interval->low, decimals), " to ", with_sign(v.interval->high, decimals)})
                     : std::string(missing);
      table.rows.push_back({{row.label},
                            {row.baseline},
                            {grouped(comparison.lengths[i])},
                            {signed_or_missing(v.difference, decimals)},
                            {range},
                            {p_or_missing(v.p)},
                            {p_or_missing(cell.p_adjusted)},
                            {signed_or_missing(v.effect, 1)},
                            {std::to_string(v.n)}});
    }
  }
  if (comparison.rivals.size() > 1)
    table.notes.emplace_back(
        "An arm that answers something else than the baseline is compared with the baseline's like.");
  if (comparison.tests > 0)
    table.notes.push_back(
        cat({"Two-sided paired t-tests; Holm's correction over all ", std::to_string(comparison.tests),
             " of this table. Effect: mean difference / its standard deviation over seeds."}));
  else if (!table.rows.empty())
    table.notes.emplace_back("No test: each needs two seeds that both arms have.");
  if (alike)
    table.notes.push_back(cat({"Effect ", missing,
                               ": all pairs differ by one amount, up to the rounding of their values; p is then the "
                               "limit, 1 where that is 0, and no measurement."}));
  return table;
}

std::string render(Table const& table, Format format, TerminalLook const& look) {
  if (format == Format::markdown) return to_markdown(table);
  if (format == Format::latex) return to_latex(table);
  expect(format == Format::terminal, "table: full numbers were asked for of a table of texts");
  return to_terminal(table, look);
}

std::string render(Comparison const& comparison, Format format, TerminalLook const& look) {
  if (format == Format::csv) return comparison_csv(comparison);
  if (format == Format::json) return comparison_json(comparison);
  std::string out = render(results_table(comparison), format, look);
  Table const differences = differences_table(comparison);
  if (!differences.rows.empty()) out += cat({"\n", render(differences, format, look)});
  return out;
}

Format format_from(std::string const& name) {
  std::vector<std::string> const names{"terminal", "markdown", "csv", "latex", "json"};
  auto const at = std::find(names.begin(), names.end(), name);
  expect(at != names.end(), "there is no format \"", name, "\"", did_you_mean(name, names));
  return static_cast<Format>(at - names.begin());
}

}  // namespace sextant::report
