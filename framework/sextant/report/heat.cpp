#include <sextant/base/error.hpp>
#include <sextant/report/card.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/heat.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant::report {
namespace {
constexpr int shades = 5;  // on either side of zero
}  // namespace

std::string cells_of(std::vector<int> const& shade, int wanted, Cells const& cells) {
  Path path;
  for (std::size_t begin = 0; begin < shade.size(); begin += static_cast<std::size_t>(cells.columns)) {
    double const y = cells.top + cells.height * static_cast<double>(begin / static_cast<std::size_t>(cells.columns));
    auto const at = [&](int column) { return shade[begin + static_cast<std::size_t>(column)]; };
    for (int c = 0; c < cells.columns; ++c) {
      if (at(c) != wanted) continue;
      int end = c;
      while (end < cells.columns && at(end) == wanted) ++end;
      double const x = cells.left + cells.width * c;
      path.move(x, y).right_to(cells.left + cells.width * end).down_to(y + cells.height).right_to(x).close();
      c = end;
    }
  }
  return path.str();
}

std::string heat_svg(Heat const& heat) {
  expect(heat.value.size() == static_cast<std::size_t>(heat.rows) * heat.columns && !heat.value.empty(),
         "heat: ", heat.value.size(), " values for ", heat.rows, " rows of ", heat.columns);
  double largest = 0;
  for (double v : heat.value) largest = std::max(largest, std::abs(v));
  std::vector<int> shade;
  for (double v : heat.value)
    shade.push_back(largest > 0 ? static_cast<int>(std::lround(shades * std::clamp(v / largest, -1.0, 1.0))) : 0);
  double const cell = std::clamp(860.0 / heat.columns, 3.0, 14.0), left = 70, top = 66;
  double const width = left + cell * heat.columns + 30, height = top + cell * heat.rows + 50;
  return card_svg(heat.title, heat.description, std::max(width, 480.0), height, [&](Xml& out) {
    for (int s = -shades; s <= shades; ++s) {
      auto const d = s == 0 ? std::string() : cells_of(shade, s, {heat.columns, left, top, cell, cell});
      if (d.empty()) continue;
      auto const g = out.element("g", ink_group({s < 0 ? 0 : 1, "", Marker::circle, false}, ""));
      out.leaf("path", {{"d", d}, {"fill", "currentColor"}, {"fill-opacity", num(std::abs(s) / double(shades))}});
    }
    auto const g = out.element("g", part_group("muted"));
    auto const label = [&](double x, double y, std::string const& word, char const* anchor) {
      out.text("text", {{"x", num(x)}, {"y", num(y)}, {"text-anchor", anchor}, {"fill", "currentColor"}}, word);
    };
    label(left - 8, top + 10, "0", "end");
    label(left - 8, top + cell * heat.rows, std::to_string(heat.rows - 1), "end");
    label(left, top - 8, heat.row_title, "start");
    label(left, top + cell * heat.rows + 18, "0", "start");
    label(left + cell * heat.columns, top + cell * heat.rows + 18, std::to_string(heat.columns - 1), "end");
    label(left + cell * heat.columns / 2, top + cell * heat.rows + 36, heat.column_title, "middle");
  });
}

}  // namespace sextant::report
