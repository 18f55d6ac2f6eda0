// What plots are put together from: points with their bands, ranges, axes, marks, and the phrases of their captions.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/maps.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Ends of the finite numbers among those that were added.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value);
  bool empty() const { return !(low <= high); }
};

/// A mean with its interval as the band.
Point point_of(double x, Summary const& summary);
Point point_of(double x, Paired const& difference);

/// A line an arm, a point a length; notes of the chart say what cannot be drawn.
std::vector<Line> lines_of(Comparison const& comparison, Looks const& looks, bool control, Chart& chart);
/// "rope, alibi, nope": of the lines that are no control.
std::string labels_of(std::vector<Line> const& lines);
void note_gaps(Chart& chart, std::string const& label, int not_finite);

/// From the shortest to the longest length, logarithmic.
Axis length_axis(Comparison const& comparison, std::string title = "length [token]");
/// Room for every line and for bands up to half the lines' range beyond them: a band of two seeds would dwarf the lines.
/// Logarithmic when asked for or when the values span more than a factor of twenty, and all are positive.
std::optional<Axis> value_axis(std::vector<Line> const& lines, std::string title, bool log = false);

/// Where the trained length lies, if it does not lie beyond the axis.
std::optional<Upright> trained_mark(StudyView const& study, Axis const& x);

/// What the bands are, or why there are none.
std::string seeds_phrase(StudyView const& study);

/// Places for the numbers of a map whose values reach to `end`.
int places_for(double end);
/// Blue to orange, from -end to end, with its numbers written on it.
Shading signed_shading(std::string title, double end);

}  // namespace sextant::report
