// Plots of arms held against something: each against its own loss at the trained length, and all against all.
#include <sextant/report/plot_parts.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/reach.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
/// Rise of each arm's loss over that at `trained`, seed by seed.
std::vector<Line> rises(Comparison const& comparison, std::int64_t trained, Looks const& looks) {
  std::vector<Line> lines;
  std::size_t const base = *comparison.column_of(trained);
  for (auto const& row : comparison.rows) {
    Line line{row.label, looks.of(row.arm), {}, true, false};
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      auto const rise = paired_cells(row.cells[k], row.cells[base]);
      if (rise.n > 0) line.points.push_back(point_of(static_cast<double>(comparison.lengths[k]), rise));
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
    line.points.push_back({static_cast<double>(length), reach_allowance});
  return line;
}

}  // namespace

std::optional<Chart> effective_context(StudyView const& study, Looks const& looks) {
  auto const quantity = reach_quantity(study);
  if (!quantity) return std::nullopt;
  auto const comparison = compare(study, options_of(*quantity));
  Chart chart;
  chart.id = "effective_context";
  chart.lines = rises(comparison, *study.trained_length, looks);
  if (chart.lines.empty()) return std::nullopt;
  auto const [low, high] = ends_of(chart.lines);
  chart.lines.push_back(allowance_line(comparison.lengths));
  chart.control_label = cat({fixed(reach_allowance, 2), " above"});
  chart.x = length_axis(comparison);
  chart.y = linear_axis(low, high, 6, cat({"rise of the loss", bracketed(comparison.units)}));
  chart.trained = trained_mark(study, chart.x);
  chart.title = "Effective length: each arm against its own loss at the trained length";
  chart.description = cat({quantity->probe, " ", quantity->region, " loss less that of the same arm and seed at ",
                           grouped(*study.trained_length), " tokens, by length."});
  chart.caption =
      cat({"Where a line crosses the dotted one, the arm's effective length ends; a line below 0 gains from more "
           "context. What rises out of the picture is in the data behind it. ",
           seeds_phrase(study)});
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
      auto const pair = paired_cells(*cells[r], *cells[c]);
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
  Range range;  // as wide below 0 as above
  for (double const value : pairs.difference) range.add(value);
  if (range.empty() || !(range.high > 0)) return std::nullopt;
  auto const& q = comparison.quantity;
  Maps out;
  out.id = "pairwise";
  out.title = cat({"All pairs of arms, at ", grouped(comparison.lengths[last])});
  out.shadings = {signed_shading(comparison.units == "1" ? q.metric : comparison.units, range.high)};
  out.groups.push_back({"row minus column", Look{}, {panel_of(pairs, comparison.lengths[last])}});
  out.description = cat({"Differences of ", q.probe, " ", q.region, " ", q.metric, " between all pairs of arms at ",
                         grouped(comparison.lengths[last]), "."});
  out.caption = cat({"Row minus column, seed by seed, mean over seeds; the numbers are in the data behind it. ",
                     comparison.lower_is_better ? "Negative: the row is better. " : "Positive: the row is better. ",
                     "●: p below 0.05 in a paired t-test, after Holm's correction over all pairs of the map."});
  return out;
}

}  // namespace sextant::report
