// Small multiples of maps: grids of cells that share a scale of shades, a group of them for each arm.
#pragma once
#include <sextant/report/chart.hpp>
#include <sextant/report/xml.hpp>

#include <string>
#include <vector>

namespace sextant::report {

/// How a number becomes one of ten shades between the page (at `low`) and the full colour (at `high`).
struct Shading {
  std::string title;  ///< of its legend; "" for none
  double low = 0, high = 1;
  std::string low_text, high_text;  ///< at the ends of the legend
  bool log = false;                 ///< by the logarithm; 0 < low
  bool signs = false;               ///< by |value| up to the larger end: blue below zero, orange above
  bool words = false;               ///< pale enough to write on

  /// -10 to 10; 0 is the page. `value` is finite.
  int shade(double value) const;
  double opacity(int shade) const;
};

struct MapPanel {
  std::string title;                                   ///< above it; may be empty
  std::size_t shading = 0;                             ///< index into Maps::shadings
  std::string row_title, column_title;                 ///< what the labels are
  std::vector<std::string> row_labels, column_labels;  ///< one a row, the first at the top, and one a column
  std::vector<double> value;                           ///< row-major; NaN where nothing was measured
  std::vector<std::string> words;                      ///< the text of each cell, or none at all
  std::size_t mark = 0;                                ///< columns before a dashed line; 0 for no line
};

struct MapGroup {
  std::string label;
  Look look;
  std::vector<MapPanel> panels;
};

struct Maps {
  std::string id;  ///< a word, unique on its page
  std::string title;
  std::string description;  ///< read out in place of the picture
  std::string caption;      ///< how to read it, for people; a few sentences
  std::vector<Shading> shadings;
  std::vector<MapGroup> groups;
  std::vector<std::string> notes;
};

/// Groups of one panel stand side by side; the panels of larger groups share a line.
std::string svg_inline(Maps const& maps, Layout layout);
std::string svg_file(Maps const& maps);
/// A line a cell: series, panel, the titles and labels of row and column, value (empty where nothing was measured).
std::string maps_csv(Maps const& maps);

}  // namespace sextant::report
