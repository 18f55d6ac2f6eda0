#include <sextant/report/chart.hpp>
#include <sextant/report/chart_layout.hpp>
#include <sextant/report/text.hpp>
#include <sextant/report/xml.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
constexpr char const* fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

// Colours that are not an arm's, by class: what a light and a dark page use.
struct Part {
  char const* name;
  char const* light;
  char const* dark;
};
constexpr Part parts[] = {{"ink", "#1c2127", "#e8ebef"},   {"muted", "#5a6470", "#a3adb9"},
                          {"grid", "#e3e7ec", "#2b323b"},  {"axis", "#9aa4b0", "#5c6773"},
                          {"shade", "#f3f5f8", "#1b2028"}, {"page", "#ffffff", "#14181d"}};
char const* light(std::string_view name) {
  for (auto const& part : parts)
    if (name == part.name) return part.light;
  return "#000000";
}

// Two decimals are a hundredth of a pixel; ASCII, without trailing zeros.
std::string num(double value) {
  double const rounded = std::round(value * 100) / 100;
  return exact(rounded == 0 ? 0 : rounded);
}

std::string at(double x, double y) { return num(x) + "," + num(y); }

std::string marker_path(Marker marker, double x, double y, double r) {
  auto const m = [&](double dx, double dy) { return at(x + r * dx, y + r * dy); };
  switch (marker) {
    case Marker::circle:
      return "M" + m(-1, 0) + "a" + at(r, r) + " 0 1,0 " + at(2 * r, 0) + "a" + at(r, r) + " 0 1,0 " + at(-2 * r, 0) +
             "Z";
    case Marker::square:
      return "M" + m(-.9, -.9) + "L" + m(.9, -.9) + "L" + m(.9, .9) + "L" + m(-.9, .9) + "Z";
    case Marker::triangle:
      return "M" + m(0, -1.2) + "L" + m(1.1, .8) + "L" + m(-1.1, .8) + "Z";
    case Marker::down:
      return "M" + m(0, 1.2) + "L" + m(1.1, -.8) + "L" + m(-1.1, -.8) + "Z";
    case Marker::diamond:
      return "M" + m(0, -1.3) + "L" + m(1.1, 0) + "L" + m(0, 1.3) + "L" + m(-1.1, 0) + "Z";
    case Marker::cross:
      return "M" + m(-1, -1) + "L" + m(1, 1) + "M" + m(-1, 1) + "L" + m(1, -1);
    case Marker::plus:
      return "M" + m(-1.2, 0) + "L" + m(1.2, 0) + "M" + m(0, -1.2) + "L" + m(0, 1.2);
    case Marker::star:
      return "M" + m(-1.1, 0) + "L" + m(1.1, 0) + "M" + m(-.6, -1) + "L" + m(.6, 1) + "M" + m(-.6, 1) + "L" + m(.6, -1);
  }
  return "";
}

bool open_marker(Marker marker) { return marker == Marker::cross || marker == Marker::plus || marker == Marker::star; }

Attributes marker_attributes(Look const& look, double x, double y, double r) {
  Attributes out{{"d", marker_path(look.marker, x, y, r)}, {"stroke", "currentColor"}, {"stroke-width", "1.6"}};
  if (open_marker(look.marker))
    out.insert(out.end(), {{"fill", "none"}, {"stroke-linecap", "round"}});
  else if (look.hollow)
    out.insert(out.end(), {{"class", "sx-hollow"}, {"fill", light("page")}});
  else
    out.push_back({"fill", "currentColor"});
  return out;
}

std::string ink_class(Look const& look) { return "sx-i" + std::to_string(look.ink); }
Attributes ink_group(Look const& look, std::string const& classes) {
  return {{"class", classes + " " + ink_class(look)}, {"color", inks[static_cast<std::size_t>(look.ink)].light}};
}
Attributes part_group(std::string const& part) { return {{"class", "sx-" + part}, {"color", light(part)}}; }

class Painter {
 public:
  Painter(Chart const& chart, Placement const& place, Xml& out) : chart_(chart), place_(place), out_(out) {}

  void paint() {
    clip();
    shade();
    grid();
    trained();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) band(i);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) line(i);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) label(i);
    if (!chart_.control_label.empty()) control_note();
  }

 private:
  double px(double x) const { return place_.plot.x + place_.plot.width * chart_.x.share(x); }
  double py(double y) const {
    double const share = std::clamp(chart_.y.share(y), -0.5, 1.5);
    return place_.plot.y + place_.plot.height * (1 - share);
  }
  bool narrow() const { return place_.layout == Layout::narrow; }
  double right() const { return place_.plot.x + place_.plot.width; }
  double bottom() const { return place_.plot.y + place_.plot.height; }
  std::string clip_id() const { return chart_.id + (narrow() ? "-narrow-clip" : "-clip"); }

  void text(double x, double y, std::string const& content, Attributes more = {}) {
    Attributes all{{"x", num(x)}, {"y", num(y)}, {"fill", "currentColor"}};
    all.insert(all.end(), more.begin(), more.end());
    out_.text("text", all, content);
  }

  void clip() {
    auto const defs = out_.element("defs");
    auto const path = out_.element("clipPath", {{"id", clip_id()}});
    out_.leaf("rect", {{"x", num(place_.plot.x - 7)},
                       {"y", num(place_.plot.y - 7)},
                       {"width", num(place_.plot.width + 14)},
                       {"height", num(place_.plot.height + 14)}});
  }

  void shade() {
    if (!chart_.trained) return;
    double const from = std::clamp(px(chart_.trained->x), place_.plot.x, right());
    auto const g = out_.element("g", part_group("shade"));
    out_.leaf("rect", {{"x", num(from)},
                       {"y", num(place_.plot.y)},
                       {"width", num(right() - from)},
                       {"height", num(place_.plot.height)},
                       {"fill", "currentColor"}});
  }

  void grid() {
    for (auto const& tick : chart_.y.ticks) {
      {
        auto const g = out_.element("g", part_group("grid"));
        out_.leaf("path",
                  {{"d", "M" + at(place_.plot.x, py(tick.value)) + "H" + num(right())}, {"stroke", "currentColor"}});
      }
      auto const g = out_.element("g", part_group("muted"));
      text(place_.plot.x - 8, py(tick.value) + 4, tick.label, {{"text-anchor", "end"}});
    }
    {
      auto const g = out_.element("g", part_group("axis"));
      std::string d = "M" + at(place_.plot.x, bottom()) + "H" + num(right());
      for (auto const& tick : chart_.x.ticks) d += "M" + at(px(tick.value), bottom()) + "v5";
      out_.leaf("path", {{"d", d}, {"stroke", "currentColor"}, {"fill", "none"}});
    }
    auto const g = out_.element("g", part_group("muted"));
    for (auto const& tick : chart_.x.ticks)
      text(px(tick.value), bottom() + 20, tick.label, {{"text-anchor", "middle"}});
    text(place_.plot.x + place_.plot.width / 2, bottom() + 42, chart_.x.title, {{"text-anchor", "middle"}});
    text(narrow() ? 8 : place_.plot.x - 54, place_.plot.y - 14, chart_.y.title);
  }

  void trained() {
    if (!chart_.trained) return;
    double const x = px(chart_.trained->x);
    if (x < place_.plot.x - 1 || x > right() + 1) return;
    auto const g = out_.element("g", {{"class", "sx-muted sx-trained"}, {"color", light("muted")}});
    out_.leaf("path", {{"d", "M" + at(x, bottom()) + "V" + num(place_.plot.y)},
                       {"stroke", "currentColor"},
                       {"stroke-width", "1.2"},
                       {"stroke-dasharray", "4 4"}});
    bool const left = x > place_.plot.x + place_.plot.width * 0.6;
    text(x + (left ? -7 : 7), place_.plot.y + 14, chart_.trained->label,
         {{"text-anchor", left ? "end" : "start"}, {"font-size", "12"}});
  }

  void band(std::size_t i) {
    auto const& line = chart_.lines[i];
    if (line.control) return;
    std::string d;
    for (std::size_t k = 0; k < line.points.size();) {
      auto const has = [&](std::size_t j) {
        return j < line.points.size() && std::isfinite(line.points[j].low) && std::isfinite(line.points[j].high);
      };
      std::size_t end = k;
      while (has(end)) ++end;
      if (end - k == 1)  // one length alone: an upright bar
        d += "M" + at(px(line.points[k].x) - 3, py(line.points[k].low)) + "h6V" + num(py(line.points[k].high)) + "h-6Z";
      if (end - k > 1) {
        for (std::size_t j = k; j < end; ++j)
          d += (j == k ? "M" : "L") + at(px(line.points[j].x), py(line.points[j].high));
        for (std::size_t j = end; j-- > k;) d += "L" + at(px(line.points[j].x), py(line.points[j].low));
        d += "Z";
      }
      k = std::max(end, k + 1);
    }
    if (d.empty()) return;
    auto attributes = ink_group(line.look, "sx-band");
    attributes.insert(attributes.end(), {{"data-series", std::to_string(i)}, {"clip-path", "url(#" + clip_id() + ")"}});
    auto const g = out_.element("g", attributes);
    out_.leaf("path", {{"d", d}, {"fill", "currentColor"}, {"fill-opacity", "0.13"}});
  }

  void line(std::size_t i) {
    auto const& line = chart_.lines[i];
    std::string d;
    bool pen_down = false;
    for (auto const& point : line.points) {
      if (std::isfinite(point.y)) d += (pen_down ? "L" : "M") + at(px(point.x), py(point.y));
      pen_down = std::isfinite(point.y);
    }
    if (d.empty()) return;
    auto attributes = ink_group(line.look, line.control ? "sx-line sx-control" : "sx-line");
    attributes.insert(
        attributes.end(),
        {{"data-series", std::to_string(i)}, {"data-label", line.label}, {"clip-path", "url(#" + clip_id() + ")"}});
    auto const g = out_.element("g", attributes);
    std::string const dash = line.control ? "1 4" : line.look.dash;
    out_.leaf("path", {{"class", "sx-stroke"},
                       {"d", d},
                       {"fill", "none"},
                       {"stroke", "currentColor"},
                       {"stroke-width", line.control ? "1.5" : "2"},
                       {line.control ? "stroke-opacity" : "", "0.8"},
                       {"stroke-linejoin", "round"},
                       {"stroke-linecap", line.control ? "round" : "butt"},
                       {dash.empty() ? "" : "stroke-dasharray", dash}});
    if (line.control) return;
    // Long lines carry a few markers, at other places for other lines, so that no two differ by colour alone.
    std::size_t const stride = line.markers ? 1 : std::max<std::size_t>(1, line.points.size() / 6);
    for (std::size_t k = line.markers ? 0 : (i * stride) / chart_.lines.size(); k < line.points.size(); k += stride) {
      auto const& point = line.points[k];
      if (!std::isfinite(point.y)) continue;
      auto const marker = out_.element("path", marker_attributes(line.look, px(point.x), py(point.y), 4));
      out_.text("title", {}, point_text(line, point));
    }
  }

  std::string point_text(Line const& line, Point const& point) const {
    std::string out = line.label + " at " + exact(point.x) + ": " + fixed(point.y, decimals_for(point.y));
    if (std::isfinite(point.low)) out += " ± " + fixed(0.5 * (point.high - point.low), decimals_for(point.y));
    return out + (point.n == 1 ? ", one seed" : ", " + std::to_string(point.n) + " seeds");
  }

  void label(std::size_t i) {
    if (!place_.labels[i]) return;
    auto const& line = chart_.lines[i];
    Box const& box = *place_.labels[i];
    double const y = box.y + box.height / 2;
    auto attributes = ink_group(line.look, "sx-label");
    attributes.insert(attributes.end(), {{"data-series", std::to_string(i)}, {"tabindex", "0"}});
    auto const g = out_.element("g", attributes);
    out_.text("title", {}, line.label);
    if (!narrow()) {
      auto const end = last_point(line);
      double const x0 = px(end->x), y0 = std::clamp(py(end->y), place_.plot.y, bottom());
      out_.leaf("path",
                {{"d", "M" + at(x0 + 6, y0) + "L" + at(std::max(x0 + 6, right() + 7), y0) + "L" + at(box.x - 3, y)},
                 {"stroke", "currentColor"},
                 {"stroke-opacity", "0.45"},
                 {"fill", "none"}});
    }
    out_.leaf("path", {{"d", "M" + at(box.x, y) + "h" + num(sample_width)},
                       {"stroke", "currentColor"},
                       {"stroke-width", "2"},
                       {line.look.dash.empty() ? "" : "stroke-dasharray", line.look.dash}});
    out_.leaf("path", marker_attributes(line.look, box.x + sample_width / 2, y, 3.6));
    auto const ink = out_.element("g", part_group("ink"));
    text(box.x + sample_width + 6, y + 4.5, place_.texts[i]);
  }

  void control_note() {
    auto const g = out_.element("g", part_group("muted"));
    double const x = narrow() ? right() : place_.plot.x + place_.plot.width;
    text(x - 4, place_.plot.y - 14, "dotted: " + ellipsize(chart_.control_label, narrow() ? 24 : 60),
         {{"text-anchor", "end"}, {"font-size", "12"}});
  }

  Chart const& chart_;
  Placement const& place_;
  Xml& out_;
};

char const* scale_name(Scale scale) {
  return scale == Scale::linear ? "linear" : scale == Scale::log2 ? "log2" : "log10";
}

std::string axis_data(Axis const& axis) {
  return std::string(scale_name(axis.scale)) + " " + exact(axis.low) + " " + exact(axis.high);
}

void body(Xml& out, Chart const& chart, Placement const& place, Attributes attributes, bool file) {
  std::string const id = chart.id + (place.layout == Layout::narrow ? "-narrow" : "");
  Attributes all{{"viewBox", "0 0 " + num(place.width) + " " + num(place.height)},
                 {"role", "img"},
                 {"aria-labelledby", id + "-title " + id + "-desc"},
                 {"font-family", fonts},
                 {"font-size", num(place.font)},
                 {"data-plot", num(place.plot.x) + " " + num(place.plot.y) + " " + num(place.plot.width) + " " +
                                   num(place.plot.height)},
                 {"data-x", axis_data(chart.x)},
                 {"data-y", axis_data(chart.y)}};
  all.insert(all.begin(), attributes.begin(), attributes.end());
  auto const svg = out.element("svg", all);
  out.text("title", {{"id", id + "-title"}}, chart.title);
  out.text("desc", {{"id", id + "-desc"}}, chart.description);
  if (file) {
    std::string dark;
    for (auto const& part : parts) dark += std::string(".sx-") + part.name + "{color:" + part.dark + "}";
    for (std::size_t i = 0; i < inks.size(); ++i) dark += ".sx-i" + std::to_string(i) + "{color:" + inks[i].dark + "}";
    out.raw("<style>@media (prefers-color-scheme: dark){" + dark + ".sx-hollow{fill:" + parts[5].dark + "}}</style>");
    {
      auto const page = out.element("g", part_group("page"));
      out.leaf("rect",
               {{"width", num(place.width)}, {"height", num(place.height)}, {"rx", "8"}, {"fill", "currentColor"}});
    }
    auto const ink = out.element("g", part_group("ink"));
    out.text("text", {{"x", "24"}, {"y", "34"}, {"font-size", "18"}, {"font-weight", "600"}, {"fill", "currentColor"}},
             ellipsize(chart.title, 84));
  }
  Painter(chart, place, out).paint();
}
}  // namespace

std::string svg_inline(Chart const& chart, Layout layout) {
  Xml out;
  body(out, chart, place(chart, layout, 36),
       {{"class", layout == Layout::wide ? "sx-chart sx-wide" : "sx-chart sx-narrow"}}, false);
  return std::move(out).str();
}

std::string svg_file(Chart const& chart) {
  Xml out;
  out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  Placement placement = place(chart, Layout::wide, 86);
  placement.plot.x += 10;  // room at the edge of the card
  placement.plot.width -= 18;
  for (auto& label : placement.labels)
    if (label) label->x -= 8;
  placement.height += 8;
  body(out, chart, placement,
       {{"xmlns", "http://www.w3.org/2000/svg"}, {"width", num(placement.width)}, {"height", num(placement.height)}},
       true);
  return std::move(out).str() + "\n";
}

std::string chart_csv(Chart const& chart) {
  std::string out = "series," + csv_field(clean_utf8(chart.x.title)) + "," + csv_field(clean_utf8(chart.y.title)) +
                    ",low,high,seeds\n";
  for (auto const& line : chart.lines)
    for (auto const& point : line.points)
      out += csv_field(clean_utf8(line.label)) + "," + exact(point.x) + "," + exact(point.y) + "," + exact(point.low) +
             "," + exact(point.high) + "," + std::to_string(point.n) + "\n";
  return out;
}

std::string chart_css() {
  std::string out;
  for (auto const& part : parts) out += std::string(".sx-") + part.name + "{color:var(--sx-" + part.name + ")}\n";
  for (std::size_t i = 0; i < inks.size(); ++i)
    out += ".sx-i" + std::to_string(i) + "{color:var(--sx-i" + std::to_string(i) + ")}\n";
  return out + ".sx-hollow{fill:var(--sx-page)}\n";
}

std::string chart_variables(bool dark) {
  std::string out;
  for (auto const& part : parts) out += std::string("--sx-") + part.name + ":" + (dark ? part.dark : part.light) + ";";
  for (std::size_t i = 0; i < inks.size(); ++i)
    out += "--sx-i" + std::to_string(i) + ":" + (dark ? inks[i].dark : inks[i].light) + ";";
  return out;
}

std::string swatch(Look const& look) {
  Xml out;
  {
    auto attributes = ink_group(look, "sx-swatch");
    attributes.insert(attributes.end(),
                      {{"viewBox", "0 0 30 14"}, {"width", "30"}, {"height", "14"}, {"aria-hidden", "true"}});
    auto const svg = out.element("svg", attributes);
    out.leaf("path", {{"d", "M1,7h28"},
                      {"stroke", "currentColor"},
                      {"stroke-width", "2"},
                      {look.dash.empty() ? "" : "stroke-dasharray", look.dash}});
    out.leaf("path", marker_attributes(look, 15, 7, 4));
  }
  return std::move(out).str();
}

}  // namespace sextant::report
