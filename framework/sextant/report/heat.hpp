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

/// Path of the cells of one shade, neighbours in a row joined. Cells are width by height, the first at (left, top).
struct Cells {
  int columns = 0;
  double left = 0, top = 0, width = 0, height = 0;
};
std::string cells_of(std::vector<int> const& shade, int wanted, Cells const& cells);

}  // namespace sextant::report
