#include <sextant/report/chart.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/text.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace sextant::report {

std::array<Part, 6> const parts{{{"ink", "#1c2127", "#e8ebef"},
                                 {"muted", "#5a6470", "#a3adb9"},
                                 {"grid", "#e3e7ec", "#2b323b"},
                                 {"axis", "#9aa4b0", "#5c6773"},
                                 {"shade", "#f3f5f8", "#1b2028"},
                                 {"page", "#ffffff", "#14181d"}}};

std::string num(double value) {
  double const rounded = std::round(value * 100) / 100;
  return exact(rounded == 0 ? 0 : rounded);
}

Path& Path::step(char const* command, double x) {
  data_ += command;
  data_ += num(x);
  return *this;
}

Path& Path::step(char const* command, double x, double y) {
  step(command, x);
  data_ += ',';
  data_ += num(y);
  return *this;
}

Path& Path::close() {
  data_ += 'Z';
  return *this;
}

namespace {
char const* light(std::string_view name) {
  for (auto const& part : parts)
    if (name == part.name) return part.light;
  return "#000000";
}

using Corners = std::vector<std::pair<double, double>>;

// Corners of a filled marker, in units of its radius; y grows downwards.
Corners corners_of(Marker marker) {
  switch (marker) {
    case Marker::square:
      return {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}};
    case Marker::triangle:
      return {{0, -1.2}, {1.1, .8}, {-1.1, .8}};
    case Marker::down:
      return {{0, 1.2}, {1.1, -.8}, {-1.1, -.8}};
    case Marker::diamond:
      return {{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}};
    default:
      break;
  }
  Corners circle;
  for (int k = 0; k < 16; ++k) circle.emplace_back(std::cos(M_PI * k / 8), std::sin(M_PI * k / 8));
  return circle;
}

// Strokes of a marker that is drawn with lines: pairs of ends.
Corners strokes_of(Marker marker) {
  if (marker == Marker::cross) return {{-1, -1}, {1, 1}, {-1, 1}, {1, -1}};
  if (marker == Marker::plus) return {{-1.2, 0}, {1.2, 0}, {0, -1.2}, {0, 1.2}};
  return {{-1.1, 0}, {1.1, 0}, {-.6, -1}, {.6, 1}, {-.6, 1}, {.6, -1}};
}

bool open_marker(Marker marker) { return marker == Marker::cross || marker == Marker::plus || marker == Marker::star; }
}  // namespace

Attributes marker_attributes(Look const& look, double x, double y, double r) {
  bool const open = open_marker(look.marker);
  Path path;
  Corners const corners = open ? strokes_of(look.marker) : corners_of(look.marker);
  for (std::size_t k = 0; k < corners.size(); ++k)
    path.to(open ? k % 2 == 1 : k > 0, x + r * corners[k].first, y + r * corners[k].second);
  if (!open) path.close();
  Attributes out{{"d", path.str()}, {"stroke", "currentColor"}, {"stroke-width", "1.6"}};
  if (open)
    out.insert(out.end(), {{"fill", "none"}, {"stroke-linecap", "round"}});
  else if (look.hollow)
    out.insert(out.end(), {{"class", "sx-hollow"}, {"fill", light("page")}});
  else
    out.push_back({"fill", "currentColor"});
  return out;
}

Attributes ink_group(Look const& look, std::string const& classes) {
  return {{"class", cat({classes, " sx-i", std::to_string(look.ink)})},
          {"color", inks[static_cast<std::size_t>(look.ink)].light}};
}
Attributes part_group(std::string const& part) { return {{"class", cat({"sx-", part})}, {"color", light(part)}}; }

std::string chart_css() {
  std::string out;
  for (auto const& part : parts) out += cat({".sx-", part.name, "{color:var(--sx-", part.name, ")}\n"});
  for (std::size_t i = 0; i < inks.size(); ++i) {
    std::string const number = std::to_string(i);
    out += cat({".sx-i", number, "{color:var(--sx-i", number, ")}\n"});
  }
  out += ".sx-hollow{fill:var(--sx-page)}\n";
  return out;
}

std::string chart_variables(bool dark) {
  std::string out;
  for (auto const& part : parts) out += cat({"--sx-", part.name, ":", dark ? part.dark : part.light, ";"});
  for (std::size_t i = 0; i < inks.size(); ++i)
    out += cat({"--sx-i", std::to_string(i), ":", dark ? inks[i].dark : inks[i].light, ";"});
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
