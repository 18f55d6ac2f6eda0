#include <sextant/report/chart_layout.hpp>
#include <sextant/report/maps_layout.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
constexpr double gap = 26, legend_height = 46, label_height = 24, most_legends = 300, written_cell = 58;

double widest(std::vector<std::string> const& labels) {
  double out = 0;
  for (auto const& label : labels) out = std::max(out, text_width(label, maps_small));
  return out;
}

double left_of(MapPanel const& panel) {
  return std::max(widest(panel.row_labels), text_width(panel.row_title, maps_small)) + 8;
}

// As large as the slot allows, and no larger than the cells need.
PlacedPanel place_panel(MapPanel const& panel, double x, double y, double slot) {
  double const left = left_of(panel), columns = static_cast<double>(panel.column_labels.size()),
               rows = static_cast<double>(panel.row_labels.size());
  bool const written = !panel.words.empty();
  double const width = std::min((slot - left) / columns, written ? written_cell : 30.0),
               height = written ? 25 : std::clamp(150 / rows, 6.0, 18.0), title = panel.title.empty() ? 0 : maps_line;
  return {&panel, {x + left, y + title, width * columns, height * rows}, width, height, y + 12};
}

// Panels of one arm share a line. Others stand as many in a line as their cells leave room for: on a wide page three at
// least, where narrower cells will do.
std::size_t panels_in_line(Maps const& maps, Layout layout, double usable) {
  std::size_t most = 1;
  double widest_panel = 0;
  for (auto const& group : maps.groups) {
    most = std::max(most, group.panels.size());
    for (auto const& panel : group.panels)
      widest_panel =
          std::max(widest_panel, left_of(panel) + written_cell * static_cast<double>(panel.column_labels.size()));
  }
  if (most > 1) return layout == Layout::wide ? most : 2;
  auto const fit = static_cast<std::size_t>((usable + gap) / (widest_panel + gap));
  return std::clamp<std::size_t>(fit, layout == Layout::wide ? 3 : 1, 5);
}
}  // namespace

MapsPlacement place(Maps const& maps, Layout layout, double margin, double top) {
  MapsPlacement out;
  out.width = layout == Layout::wide ? 960 : 400;
  double const usable = out.width - 2 * margin;
  double y = top;
  std::size_t legends = 0;
  std::size_t const legends_in_line = layout == Layout::wide ? 4 : 2;
  double const legend_slot = usable / static_cast<double>(legends_in_line);
  for (auto const& shading : maps.shadings) {
    if (shading.title.empty()) continue;
    out.legends.push_back({&shading,
                           {margin + legend_slot * static_cast<double>(legends % legends_in_line),
                            y + legend_height * static_cast<double>(legends / legends_in_line),
                            std::min(legend_slot - gap, most_legends), legend_height}});
    ++legends;
  }
  y += legend_height * std::ceil(static_cast<double>(legends) / static_cast<double>(legends_in_line)) + 6;

  std::size_t const in_line = panels_in_line(maps, layout, usable);
  double const slot = (usable - gap * static_cast<double>(in_line - 1)) / static_cast<double>(in_line);
  double const below = 2 * maps_line + 10;  // labels of the columns, their title
  std::size_t at = 0;                       // place in the line
  double bottom = y;
  bool const several =
      std::any_of(maps.groups.begin(), maps.groups.end(), [](auto const& group) { return group.panels.size() > 1; });
  for (auto const& group : maps.groups) {
    if (several || at == in_line) y = bottom, at = 0;
    double const x = margin + (slot + gap) * static_cast<double>(at);
    out.labels.push_back({&group, {x, y, several ? usable : slot, label_height}});
    double line = y + label_height;
    for (auto const& panel : group.panels) {
      if (several && at == in_line) line = bottom, at = 0;
      out.panels.push_back(place_panel(panel, margin + (slot + gap) * static_cast<double>(at), line, slot));
      auto const& cells = out.panels.back().cells;
      bottom = std::max(bottom, cells.y + cells.height + below);
      ++at;
    }
  }
  out.height = bottom + (margin > 0 ? 6 : 0);
  return out;
}

}  // namespace sextant::report
