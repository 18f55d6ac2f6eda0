// A line plot as data, and its rendering as SVG: bands, direct labels, a trained-length mark, light and dark.
#pragma once
#include <sextant/report/axis.hpp>
#include <sextant/report/style.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// One point of a line. low and high are the band; both are NaN where there is none (one seed).
struct Point {
  double x = 0, y = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  int n = 1;  ///< seeds
};

struct Line {
  std::string label;
  Look look;
  std::vector<Point> points;  ///< ascending in x; a y that is not finite breaks the line
  bool markers = false;       ///< a marker at every point; else a few along the line
  bool control = false;       ///< drawn thin and dotted and without a label, beside the line it belongs to
};

/// A vertical mark with a word beside it; the side beyond it is shaded.
struct Upright {
  double x = 0;
  std::string label;
};

struct Chart {
  std::string id;  ///< a word, unique on its page
  std::string title;
  std::string description;  ///< read out in place of the picture
  std::string caption;      ///< how to read it, for people; one or two sentences
  Axis x, y;
  std::vector<Line> lines;
  std::optional<Upright> trained;
  std::string control_label;       ///< what the dotted lines are; "" when there are none
  std::vector<std::string> notes;  ///< what the plot cannot show: arms without data, values that are not finite
};

enum class Layout {
  wide,    ///< 960 units across, labels at the ends of the lines
  narrow,  ///< 400 units across for a phone, labels under the plot
};

/// SVG to stand inside an HTML page: no namespace, colours by class with light-page values as attributes.
std::string svg_inline(Chart const& chart, Layout layout);

/// A complete SVG file: solid background, title drawn, dark when the viewer prefers it, readable without CSS.
std::string svg_file(Chart const& chart);

/// The data behind the chart, a point a line: series, the axes' titles, low, high, seeds.
std::string chart_csv(Chart const& chart);

/// Boxes of all labels and of the plot area in the order drawn, for the tests of overlap: x, y, width, height.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};
struct Geometry {
  double width = 0, height = 0;
  Box plot;
  std::vector<Box> labels;  ///< one a line that is labelled, in the order of `lines`
};
Geometry geometry_of(Chart const& chart, Layout layout);

/// Moves wished centres apart to at least `gap`, within [low, high], changing them as little as needed (in the sum of
/// squares, before the ends push). Order is kept. Throws Error when they cannot fit.
std::vector<double> spread(std::vector<double> const& wished, double gap, double low, double high);

/// The colour rules that a page needs once: every class of the charts takes its colour from a CSS variable.
std::string chart_css();
/// The variables themselves: --sx-ink:#1f2328;--sx-i0:#0072b2; ... for a light or a dark page.
std::string chart_variables(bool dark);

/// A short piece of line with the marker of a look, to stand beside a name in a table or a list.
std::string swatch(Look const& look);

}  // namespace sextant::report
