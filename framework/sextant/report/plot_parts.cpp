#include <sextant/report/plot_parts.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
Point banded(double x, std::optional<double> y, std::optional<Interval> const& band, int n) {
  return {x, y.value_or(nan), band ? band->low : nan, band ? band->high : nan, n};
}
}  // namespace

void Range::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Point point_of(double x, Summary const& summary) { return banded(x, summary.mean, summary.interval, summary.n); }
Point point_of(double x, Paired const& difference) {
  return banded(x, difference.difference, difference.interval, difference.n);
}

std::vector<Line> lines_of(Comparison const& comparison, Looks const& looks, bool control, Chart& chart) {
  std::vector<Line> lines;
  std::vector<std::string> empty;
  for (auto const& row : comparison.rows) {
    Line line{row.label, looks.of(row.arm), {}, true, control};
    int not_finite = 0;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      auto const& summary = row.cells[i].summary;
      not_finite += summary.not_finite;
      if (summary.n > 0) line.points.push_back(point_of(static_cast<double>(comparison.lengths[i]), summary));
    }
    if (!control) note_gaps(chart, row.label, not_finite);
    if (!line.points.empty())
      lines.push_back(std::move(line));
    else
      empty.push_back(row.label);
  }
  if (!control && !empty.empty()) chart.notes.push_back(cat({"Nothing to draw for ", join(empty), "."}));
  return lines;
}

std::string labels_of(std::vector<Line> const& lines) {
  std::vector<std::string> labels;
  for (auto const& line : lines)
    if (!line.control) labels.push_back(line.label);
  return join(labels);
}

void note_gaps(Chart& chart, std::string const& label, int not_finite) {
  if (not_finite > 0)
    chart.notes.push_back(cat({label, ": ", std::to_string(not_finite), " values are not finite and are left out."}));
}

Axis length_axis(Comparison const& comparison, std::string title) {
  return log2_axis(static_cast<double>(comparison.lengths.front()), static_cast<double>(comparison.lengths.back()), 12,
                   std::move(title));
}

std::optional<Axis> value_axis(std::vector<Line> const& lines, std::string title, bool log) {
  Range values, bands;
  for (auto const& line : lines)
    for (auto const& point : line.points) {
      values.add(point.y);
      bands.add(point.low);
      bands.add(point.high);
    }
  if (values.empty()) return std::nullopt;
  bands.add(values.low);
  bands.add(values.high);
  double const room = 0.5 * (values.high - values.low);
  double const low = std::max(bands.low, values.low - room), high = std::min(bands.high, values.high + room);
  if (values.low > 0 && (log || values.high / values.low > 20)) {
    double const margin = std::pow(values.high / values.low, 0.05) * 1.02;
    return log10_axis(values.low / margin, values.high * margin, 10, std::move(title));
  }
  return linear_axis(values.low > 0 ? std::max(0.0, low) : low, high, 6, std::move(title));
}

std::optional<Upright> trained_mark(StudyView const& study, Axis const& x) {
  if (!study.trained_length || static_cast<double>(*study.trained_length) > x.high) return std::nullopt;
  return Upright{static_cast<double>(*study.trained_length), cat({"trained at ", grouped(*study.trained_length)})};
}

std::string seeds_phrase(StudyView const& study) {
  std::size_t const n = seeds_of(study).size();
  if (n < 2) return "One seed, so there are no bands.";
  return cat({"Bands: 95 % Student-t interval over ", std::to_string(n), " seeds."});
}

int places_for(double end) { return end >= 0.1 ? 2 : end >= 0.01 ? 3 : 4; }

Shading signed_shading(std::string title, double end) {
  return {.title = std::move(title),
          .low = -end,
          .high = end,
          .low_text = with_sign(-end, places_for(end)),
          .high_text = with_sign(end, places_for(end)),
          .signs = true,
          .words = true};
}

}  // namespace sextant::report
