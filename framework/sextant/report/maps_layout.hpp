// Inside of the maps: sizes and places in SVG units.
#pragma once
#include <sextant/report/maps.hpp>

namespace sextant::report {

struct PlacedPanel {
  MapPanel const* panel;
  Box cells;  ///< all of them
  double cell_width, cell_height;
  double title;  ///< baseline of the title
};
struct PlacedLabel {
  MapGroup const* group;
  Box box;
};
struct PlacedLegend {
  Shading const* shading;
  Box box;
};
struct MapsPlacement {
  double width = 0, height = 0;
  std::vector<PlacedLegend> legends;
  std::vector<PlacedLabel> labels;
  std::vector<PlacedPanel> panels;
};

inline constexpr double maps_font = 13, maps_small = 11.5, maps_line = 20;

MapsPlacement place(Maps const& maps, Layout layout, double margin, double top);

}  // namespace sextant::report
