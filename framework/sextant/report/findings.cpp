#include <sextant/report/findings.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>

namespace sextant::report {
namespace {
std::string list_of(std::vector<std::string> const& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return cat({join({names.begin(), names.end() - 1}), " and ", names.back()});
}
std::string measure_of(Quantity const& quantity) {
  return quantity.metric == "loss" ? quantity.metric : cat({quantity.probe, " (", quantity.metric, ")"});
}
std::string units_behind(Comparison const& comparison) {
  return comparison.units.empty() || comparison.units == "1" ? "" : cat({" ", comparison.units});
}

/// "At 2,048 tokens, 8 times the trained length"
std::string place_of(std::string_view at, Comparison const& comparison, std::int64_t length) {
  std::string place = cat({at, " ", grouped(length), " tokens"});
  if (auto const trained = comparison.trained_length; trained && length > *trained)
    place +=
        cat({", ", fixed(static_cast<double>(length) / static_cast<double>(*trained), length % *trained == 0 ? 0 : 1),
             " times the trained length"});
  return place;
}

/// Who is best at the longest length, and who is not told apart from it.
void add_winner(std::vector<std::string>& out, Comparison const& comparison, Rivals const& rivals) {
  std::vector<std::string> tied;
  ComparisonRow const* best = nullptr;
  for (auto const n : rivals.rows) {
    auto const& row = comparison.rows[n];
    if (row.cells.back().mark == Mark::best) best = &row;
    if (row.cells.back().mark == Mark::tied) tied.push_back(row.label);
  }
  if (!best) return;
  std::size_t const seeds = comparison.seeds.size();
  std::string const how = seeds == 1 ? " exactly equal to it, for the one seed."
                                     : cat({" not told apart from it by ", std::to_string(seeds), " seeds."});
  std::string sentence = cat(
      {place_of(rivals.name.empty() ? "At" : cat({rivals.name, ": at"}), comparison, comparison.lengths.back()), ", ",
       best->label, " has the ", comparison.lower_is_better ? "lowest " : "highest ", measure_of(comparison.quantity),
       ": ", mean_text(best->cells.back().summary, decimals_of(comparison)), units_behind(comparison), "."});
  bool const all = tied.size() + 1 == rivals.rows.size() && tied.size() > 1;
  std::string const others =
      tied.empty() ? "" : cat({all ? "All others" : list_of(tied), tied.size() == 1 ? " is" : " are", how});
  if (rivals.name.empty()) {
    out.push_back(sentence);
    if (!others.empty()) out.push_back(others);
  } else {
    out.push_back(others.empty() ? sentence : cat({sentence, " ", others}));
  }
}

/// From the trained length to the longest: the arm that changes most, and the one that changes least.
void add_change(std::vector<std::string>& out, Comparison const& comparison) {
  std::int64_t const longest = comparison.lengths.back();
  if (!comparison.trained_length || longest <= *comparison.trained_length) return;
  auto const home = comparison.column_of(*comparison.trained_length);
  if (!home) return;
  std::vector<std::pair<double, std::string>> change;
  for (auto const& row : comparison.rows) {
    auto const &from = row.cells[*home].summary.mean, &to = row.cells.back().summary.mean;
    if (!row.arm.scaled() && from && to) change.emplace_back(*to - *from, row.label);
  }
  if (change.size() < 2) return;
  int const decimals = decimals_of(comparison);
  auto const [least, most] = std::minmax_element(change.begin(), change.end());
  out.push_back(
      cat({"From ", grouped(*comparison.trained_length), " to ", grouped(longest), " tokens the ",
           measure_of(comparison.quantity), " of ", most->second, " changes by ", with_sign(most->first, decimals),
           " and that of ", least->second, " by ", with_sign(least->first, decimals), units_behind(comparison), "."}));
}
}  // namespace

std::vector<std::string> findings_of(Comparison const& comparison) {
  std::vector<std::string> out;
  if (comparison.lengths.empty()) return out;
  for (auto const& rivals : comparison.rivals) add_winner(out, comparison, rivals);
  if (comparison.rivals.size() == 1) add_change(out, comparison);
  return out;
}

}  // namespace sextant::report
