#include <sextant/report/card.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/chart_layout.hpp>
#include <sextant/report/heat.hpp>
#include <sextant/report/maps_layout.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
constexpr int shades_a_side = 10;

class MapsPainter {
 public:
  MapsPainter(MapsPlacement const& place, std::vector<Shading> const& shadings, Xml& out)
      : place_(place), shadings_(shadings), out_(out) {}

  void paint() {
    for (auto const& each : place_.legends) legend(each);
    for (auto const& each : place_.labels) label(each);
    for (auto const& each : place_.panels) panel(each);
  }

 private:
  void text(double x, double y, std::string const& words, char const* anchor = "start", double size = maps_small) {
    out_.text(
        "text",
        {{"x", num(x)}, {"y", num(y)}, {"text-anchor", anchor}, {"font-size", num(size)}, {"fill", "currentColor"}},
        words);
  }

  void fill(Shading const& shading, std::vector<int> const& shade, Cells const& cells) {
    for (int wanted = -shades_a_side; wanted <= shades_a_side; ++wanted) {
      if (wanted == 0) continue;
      auto const d = cells_of(shade, wanted, cells);
      if (d.empty()) continue;
      int const ink = shading.signs && wanted > 0 ? 1 : 0;  // vermilion, else blue
      auto const g = out_.element("g", ink_group({ink, "", Marker::circle, false}, ""));
      out_.leaf("path", {{"d", d}, {"fill", "currentColor"}, {"fill-opacity", num(shading.opacity(wanted))}});
    }
  }

  void frame(Box const& box) {
    auto const g = out_.element("g", part_group("axis"));
    out_.leaf("rect", {{"x", num(box.x)},
                       {"y", num(box.y)},
                       {"width", num(box.width)},
                       {"height", num(box.height)},
                       {"fill", "none"},
                       {"stroke", "currentColor"}});
  }

  void legend(PlacedLegend const& each) {
    Shading const& shading = *each.shading;
    std::vector<int> all;
    for (int s = shading.signs ? -shades_a_side : 0; s <= shades_a_side; ++s) all.push_back(s);
    double const left = text_width(shading.low_text, maps_small) + 6,
                 right = text_width(shading.high_text, maps_small) + 6,
                 width = std::max(40.0, std::min(150.0, each.box.width - left - right));
    Box const bar{each.box.x + left, each.box.y + 20, width, 11};
    fill(shading, all,
         {static_cast<int>(all.size()), bar.x, bar.y, bar.width / static_cast<double>(all.size()), bar.height});
    frame(bar);
    auto const g = out_.element("g", part_group("muted"));
    text(each.box.x, each.box.y + 12, ellipsize(shading.title, static_cast<int>(each.box.width / 6.4)));
    text(bar.x - 6, bar.y + 10, shading.low_text, "end");
    text(bar.x + bar.width + 6, bar.y + 10, shading.high_text);
  }

  void label(PlacedLabel const& each) {
    Box const& box = each.box;
    double const y = box.y + 9;
    auto const g = out_.element("g", ink_group(each.group->look, "sx-map-label"));
    out_.leaf("path", {{"d", Path().move(box.x, y).right_to(box.x + sample_width).str()},
                       {"stroke", "currentColor"},
                       {"stroke-width", "2"},
                       {each.group->look.dash.empty() ? "" : "stroke-dasharray", each.group->look.dash}});
    out_.leaf("path", marker_attributes(each.group->look, box.x + sample_width / 2, y, 3.6));
    auto const ink = out_.element("g", part_group("ink"));
    int const most = static_cast<int>((box.width - sample_width - 6) / (0.58 * maps_font));
    text(box.x + sample_width + 6, y + 4.5, ellipsize_middle(each.group->label, most), "start", maps_font);
  }

  void panel(PlacedPanel const& each) {
    auto const group = out_.element("g", {{"class", "sx-map"}});
    MapPanel const& panel = *each.panel;
    Shading const& shading = shadings_.at(panel.shading);
    std::vector<int> shade;
    for (double const value : panel.value) shade.push_back(std::isfinite(value) ? shading.shade(value) : 0);
    fill(shading, shade,
         {static_cast<int>(panel.column_labels.size()), each.cells.x, each.cells.y, each.cell_width, each.cell_height});
    if (panel.words.empty())
      absent(each);
    else
      written(each);
    frame(each.cells);
    if (panel.mark > 0) trained(each);
    auto const g = out_.element("g", part_group("muted"));
    if (!panel.title.empty()) text(each.cells.x, each.title, panel.title);
    axes(each);
  }

  // A stroke through what was not measured: an empty cell is a low value.
  void absent(PlacedPanel const& each) {
    Path path;
    std::size_t const columns = each.panel->column_labels.size();
    for (std::size_t k = 0; k < each.panel->value.size(); ++k) {
      if (std::isfinite(each.panel->value[k])) continue;
      double const x = each.cells.x + each.cell_width * static_cast<double>(k % columns),
                   y = each.cells.y + each.cell_height * static_cast<double>(k / columns);
      path.move(x, y + each.cell_height).line(x + each.cell_width, y);
    }
    if (path.empty()) return;
    auto const g = out_.element("g", part_group("axis"));
    out_.leaf("path", {{"d", path.str()}, {"stroke", "currentColor"}, {"fill", "none"}});
  }

  void written(PlacedPanel const& each) {
    auto const g = out_.element("g", part_group("ink"));
    std::size_t const columns = each.panel->column_labels.size();
    double longest = 1;
    for (auto const& word : each.panel->words) longest = std::max(longest, text_width(word, 1));
    double const size = std::clamp((each.cell_width - 9) / longest, 7.5, maps_font);
    for (std::size_t k = 0; k < each.panel->words.size(); ++k)
      text(each.cells.x + each.cell_width * (static_cast<double>(k % columns) + 0.5),
           each.cells.y + each.cell_height * (static_cast<double>(k / columns) + 0.5) + 0.36 * size,
           each.panel->words[k], "middle", size);
  }

  void trained(PlacedPanel const& each) {
    double const x = each.cells.x + each.cell_width * static_cast<double>(each.panel->mark);
    auto const g = out_.element("g", part_group("ink"));
    out_.leaf("path", {{"d", Path().move(x, each.cells.y - 4).down_to(each.cells.y + each.cells.height + 4).str()},
                       {"stroke", "currentColor"},
                       {"stroke-width", "1.4"},
                       {"stroke-dasharray", "4 3"}});
  }

  // Every how many-th column can carry its label.
  std::size_t stride(PlacedPanel const& each) const {
    double widest = 0;
    for (auto const& label : each.panel->column_labels) widest = std::max(widest, text_width(label, maps_small));
    return static_cast<std::size_t>(std::max(1.0, std::ceil((widest + 5) / each.cell_width)));
  }

  // Labels of rows where all fit, else of the first and the last.
  void axes(PlacedPanel const& each) {
    MapPanel const& panel = *each.panel;
    std::size_t const rows = panel.row_labels.size(), columns = panel.column_labels.size();
    bool const all_rows = each.cell_height >= 13;
    for (std::size_t r = 0; r < rows; ++r)
      if (all_rows || r == 0 || r + 1 == rows)
        text(each.cells.x - 6, each.cells.y + each.cell_height * (static_cast<double>(r) + 0.5) + 4,
             panel.row_labels[r], "end");
    double const y = each.cells.y + each.cells.height + 15, half = each.cell_width / 2;
    for (std::size_t c = 0; c < columns; c += stride(each))
      text(each.cells.x + each.cell_width * static_cast<double>(c) + half, y, panel.column_labels[c], "middle");
    text(each.cells.x - 6, y, panel.row_title, "end");
    text(each.cells.x + each.cells.width / 2, y + 16, panel.column_title, "middle");
  }

  MapsPlacement const& place_;
  std::vector<Shading> const& shadings_;
  Xml& out_;
};
}  // namespace

int Shading::shade(double value) const {
  if (signs) {
    double const end = std::max(std::abs(low), std::abs(high));
    return end > 0 ? static_cast<int>(std::lround(shades_a_side * std::clamp(value / end, -1.0, 1.0))) : 0;
  }
  if (!(high > low)) return 0;
  double const share = log ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
  return static_cast<int>(std::lround(shades_a_side * std::clamp(share, 0.0, 1.0)));
}

// Up to 0.55 of the ink, what is written in the page's own ink keeps a contrast of 4 in both themes.
double Shading::opacity(int shade) const { return (words ? 0.55 : 1.0) * std::abs(shade) / shades_a_side; }

std::string svg_inline(Maps const& maps, Layout layout) {
  bool const wide = layout == Layout::wide;
  auto const placed = place(maps, layout, 0, 4);
  std::string const id = maps.id + (wide ? "" : "-narrow");
  Xml out;
  {
    auto const svg = out.element("svg", {{"class", wide ? "sx-maps sx-wide" : "sx-maps sx-narrow"},
                                         {"viewBox", cat({"0 0 ", num(placed.width), " ", num(placed.height)})},
                                         {"role", "img"},
                                         {"aria-labelledby", cat({id, "-title ", id, "-desc"})},
                                         {"font-family", chart_fonts}});
    out.text("title", {{"id", id + "-title"}}, maps.title);
    out.text("desc", {{"id", id + "-desc"}}, maps.description);
    MapsPainter(placed, maps.shadings, out).paint();
  }
  return std::move(out).str();
}

std::string svg_file(Maps const& maps) {
  auto const placed = place(maps, Layout::wide, 24, 58);
  return card_svg(maps.title, maps.description, placed.width, placed.height,
                  [&](Xml& out) { MapsPainter(placed, maps.shadings, out).paint(); });
}

std::string maps_csv(Maps const& maps) {
  auto const field = [](std::string const& text) { return csv_field(clean_utf8(text)); };
  std::string out = "series,panel,rows,row,columns,column,value\n";
  for (auto const& group : maps.groups)
    for (auto const& panel : group.panels)
      for (std::size_t k = 0; k < panel.value.size(); ++k)
        out += cat({field(group.label), ",", field(panel.title), ",", field(panel.row_title), ",",
                    field(panel.row_labels[k / panel.column_labels.size()]), ",", field(panel.column_title), ",",
                    field(panel.column_labels[k % panel.column_labels.size()]), ",", exact(panel.value[k]), "\n"});
  return out;
}

}  // namespace sextant::report
