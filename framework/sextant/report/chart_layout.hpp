// Inside of the chart writer: sizes and places in SVG units.
#pragma once
#include <sextant/report/chart.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// Length of the piece of line shown before a label.
inline constexpr double sample_width = 26;

struct Placement {
  Layout layout = Layout::wide;
  double width = 0, height = 0, top = 0;
  double font = 13, row = 18;
  Box plot;
  std::vector<std::optional<Box>> labels;  ///< one a line of the chart; empty for controls and lines without data
  std::vector<std::string> texts;          ///< labels, shortened to fit
};

/// `top`: where the plot area begins. The height follows from the number of labels.
Placement place(Chart const& chart, Layout layout, double top);

/// The last point with a finite y.
std::optional<Point> last_point(Line const& line);

/// An upper estimate of the width of sans-serif text; fonts differ, so it errs on the wide side.
double text_width(std::string const& text, double size);

}  // namespace sextant::report
