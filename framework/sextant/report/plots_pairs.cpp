// Plots of arms held against something: each against its own loss at the trained length, and all against all.
#include <sextant/report/plots.hpp>
#include <sextant/report/reach.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::report {
namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> minus(Cell const& cell, Cell const& base) {
  std::vector<double> out;
  for (std::size_t i = 0; i < cell.seeds.size(); ++i)
    for (std::size_t j = 0; j < base.seeds.size(); ++j)
      if (cell.seeds[i] == base.seeds[j]) out.push_back(cell.values[i] - base.values[j]);
  return out;
}

/// Rise of each arm's loss over that at `trained`, seed by seed.
std::vector<Line> rises(Comparison const& comparison, std::int64_t trained, Looks const& looks) {
  std::vector<Line> lines;
  auto const at = std::find(comparison.lengths.begin(), comparison.lengths.end(), trained);
  std::size_t const base = static_cast<std::size_t>(at - comparison.lengths.begin());
  for (auto const& row : comparison.rows) {
    Line line{row.label, looks.of(row.arm), {}, true, false};
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      auto const summary = statistics::summarize(minus(row.cells[k], row.cells[base]));
      if (summary.n == 0) continue;
      line.points.push_back({static_cast<double>(comparison.lengths[k]), *summary.mean,
                             summary.interval ? summary.interval->low : nan,
                             summary.interval ? summary.interval->high : nan, summary.n});
    }
    if (line.points.size() > 1) lines.push_back(std::move(line));
  }
  return lines;
}

/// From the lowest line to a few allowances above it, or the lines' own top when that is lower: what matters is where they leave.
std::pair<double, double> ends_of(std::vector<Line> const& lines) {
  double low = 0, high = reach_allowance;
  for (auto const& line : lines)
    for (auto const& point : line.points)
      if (std::isfinite(point.y)) low = std::min(low, point.y), high = std::max(high, point.y);
  return {std::max(low, -20 * reach_allowance), std::min(high, 20 * reach_allowance)};
}

/// A dotted line at the allowance.
Line allowance_line(std::vector<std::int64_t> const& lengths) {
  Line line{"", {}, {}, false, true};
  for (auto const length : {lengths.front(), lengths.back()})
    line.points.push_back({static_cast<double>(length), reach_allowance, nan, nan, 1});
  return line;
}

std::string with_units(std::string const& what, std::string const& units) {
  return units.empty() ? what : cat({what, " [", units, "]"});
}
}  // namespace

std::optional<Chart> effective_context(StudyView const& study, Looks const& looks) {
  auto const quantity = reach_quantity(study);
  if (!quantity) return std::nullopt;
  auto const comparison =
      compare(study, {.probe = quantity->probe, .region = quantity->region, .metric = quantity->metric});
  Chart chart;
  chart.id = "effective_context";
  chart.lines = rises(comparison, *study.trained_length, looks);
  if (chart.lines.empty()) return std::nullopt;
  auto const [low, high] = ends_of(chart.lines);
  chart.lines.push_back(allowance_line(comparison.lengths));
  chart.control_label = cat({fixed(reach_allowance, 2), " above"});
  chart.x = log2_axis(static_cast<double>(comparison.lengths.front()), static_cast<double>(comparison.lengths.back()),
                      12, "length [token]");
  chart.y = linear_axis(low, high, 6, with_units("rise of the loss", comparison.units));
  chart.trained =
      Upright{static_cast<double>(*study.trained_length), cat({"trained at ", grouped(*study.trained_length)})};
  chart.title = "Effective length: each arm against its own loss at the trained length";
  chart.description = cat({quantity->probe, " ", quantity->region, " loss less that of the same arm and seed at ",
                           grouped(*study.trained_length), " tokens, by length."});
  chart.caption =
      "Where a line crosses the dotted one, the arm's effective length ends; a line below 0 gains from more context. "
      "What "
      "rises out of the picture is in the data behind it. Bands: 95 % Student-t interval over seeds.";
  return chart;
}

namespace {
/// Differences of all pairs of arms at one length, the upper triangle corrected together.
struct Pairs {
  std::vector<Arm> arms;
  std::vector<double> difference;                 ///< [row, column], row minus column; NaN where there is none
  std::vector<std::optional<double>> p_adjusted;  ///< likewise

  std::size_t at(std::size_t row, std::size_t column) const { return row * arms.size() + column; }
};

Pairs pairs_of(Comparison const& comparison, std::size_t length) {
  Pairs out;
  std::vector<Cell const*> cells;
  for (auto const& row : comparison.rows)
    if (row.cells[length].summary.mean) out.arms.push_back(row.arm), cells.push_back(&row.cells[length]);
  std::size_t const n = cells.size();
  out.difference.assign(n * n, nan);
  out.p_adjusted.assign(n * n, std::nullopt);
  std::vector<double> p;
  std::vector<std::size_t> tested, mirror;
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = r + 1; c < n; ++c) {
      auto const d = minus(*cells[r], *cells[c]);
      auto const pair = statistics::paired(d, std::vector<double>(d.size(), 0.0));
      if (!pair.difference) continue;
      out.difference[out.at(r, c)] = *pair.difference;
      out.difference[out.at(c, r)] = -*pair.difference;
      if (pair.p) p.push_back(*pair.p), tested.push_back(out.at(r, c)), mirror.push_back(out.at(c, r));
    }
  auto const adjusted = statistics::holm(p);
  for (std::size_t k = 0; k < p.size(); ++k) out.p_adjusted[tested[k]] = out.p_adjusted[mirror[k]] = adjusted[k];
  return out;
}

MapPanel panel_of(Pairs const& pairs, std::int64_t length) {
  MapPanel panel;
  panel.title = cat({"at ", grouped(length)});
  panel.row_title = "this arm";
  panel.column_title = "minus the arm of that number";
  panel.value = pairs.difference;
  for (std::size_t r = 0; r < pairs.arms.size(); ++r) {
    panel.row_labels.push_back(cat({std::to_string(r + 1), " ", pairs.arms[r].label()}));
    panel.column_labels.push_back(std::to_string(r + 1));
    for (std::size_t c = 0; c < pairs.arms.size(); ++c) {
      auto const& p = pairs.p_adjusted[pairs.at(r, c)];
      panel.words.emplace_back(p && *p < 0.05 ? "●" : "");
    }
  }
  return panel;
}
}  // namespace

std::optional<Maps> pairwise(StudyView const& study, Looks const&) {
  if (study.rows.empty()) return std::nullopt;
  auto const comparison = compare(study);
  std::size_t const last = comparison.lengths.size() - 1;
  auto const pairs = pairs_of(comparison, last);
  constexpr std::size_t most = 16;
  if (pairs.arms.size() < 3 || pairs.arms.size() > most) return std::nullopt;
  double end = 0;
  for (double const value : pairs.difference)
    if (std::isfinite(value)) end = std::max(end, std::abs(value));
  if (!(end > 0)) return std::nullopt;
  int const places = end >= 0.1 ? 2 : end >= 0.01 ? 3 : 4;
  auto const& q = comparison.quantity;
  Maps out;
  out.id = "pairwise";
  out.title = cat({"All pairs of arms, at ", grouped(comparison.lengths[last])});
  out.shadings = {{.title = comparison.units == "1" ? q.metric : comparison.units,
                   .low = -end,
                   .high = end,
                   .low_text = with_sign(-end, places),
                   .high_text = with_sign(end, places),
                   .signs = true,
                   .words = true}};
  out.groups.push_back({"row minus column", Look{}, {panel_of(pairs, comparison.lengths[last])}});
  out.description = cat({"Differences of ", q.probe, " ", q.region, " ", q.metric, " between all pairs of arms at ",
                         grouped(comparison.lengths[last]), "."});
  out.caption = cat({"Row minus column, seed by seed, mean over seeds; the numbers are in the data behind it. ",
                     comparison.lower_is_better ? "Negative: the row is better. " : "Positive: the row is better. ",
                     "●: p below 0.05 in a paired t-test, after Holm's correction over all pairs of the map."});
  return out;
}

}  // namespace sextant::report
