// A table of numbers as a picture: one cell a number, blue below zero, orange above.
#pragma once
#include <string>
#include <vector>

namespace sextant::report {

struct Heat {
  std::string title, description;
  std::string row_title, column_title;
  int rows = 0, columns = 0;
  std::vector<double> value;  ///< row-major; shown relative to the largest |value|
};

/// A complete SVG file. Values are shown in eleven shades; row 0 is at the top.
std::string heat_svg(Heat const& heat);

}  // namespace sextant::report
