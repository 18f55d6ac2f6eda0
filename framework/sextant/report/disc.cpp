#include <sextant/report/card.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/disc.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::report {
namespace {
constexpr double whole = 2 * std::numbers::pi, edge = 1.25;

struct DiscFrame {
  double x, y, radius;  // centre and unit in SVG units
  double px(double re) const { return x + radius * re; }
  double py(double im) const { return y - radius * im; }
};

void arc(Xml& out, DiscFrame const& at, double angle, double scale, char const* width) {
  if (angle <= 0) return;
  double const end = std::min(angle, whole);
  int const pieces = std::max(2, static_cast<int>(std::ceil(end / whole * 48)));
  Path path;
  for (int n = 0; n <= pieces; ++n) {
    double const a = end * n / pieces;
    path.to(n > 0, at.px(scale * std::cos(a)), at.py(scale * std::sin(a)));
  }
  out.leaf("path", {{"d", path.str()},
                    {"fill", "none"},
                    {"stroke", "currentColor"},
                    {"stroke-width", width},
                    {"stroke-linecap", "round"}});
}

void draw(Xml& out, Disc const& disc, DiscFrame const& at) {
  {
    auto const g = out.element("g", part_group("grid"));
    out.leaf("path", {{"d", cat({Path().move(at.px(-edge), at.y).right_to(at.px(edge)).str(),
                                 Path().move(at.x, at.py(edge)).down_to(at.py(-edge)).str()})},
                      {"stroke", "currentColor"}});
    arc(out, at, whole, 1, "1.5");
  }
  {
    auto const g = out.element("g", ink_group({1, "", Marker::circle, false}, ""));
    arc(out, at, disc.thin_arc, 1, "2");
  }
  {
    auto const g = out.element("g", ink_group({0, "", Marker::circle, false}, ""));
    arc(out, at, disc.thick_arc, 0.93, "4");
    Look const look{0, "", Marker::circle, true};
    for (auto const& [re, im] : disc.points) {
      double const size = std::hypot(re, im), shrink = size > edge ? edge / size : 1;
      out.leaf("path", marker_attributes(look, at.px(re * shrink), at.py(im * shrink), 4));
    }
  }
  auto const g = out.element("g", part_group("muted"));
  out.text("text",
           {{"x", num(at.x)}, {"y", num(at.py(-edge) + 20)}, {"text-anchor", "middle"}, {"fill", "currentColor"}},
           disc.label);
}
}  // namespace

std::string discs_svg(std::string const& title, std::string const& description, std::vector<Disc> const& discs) {
  int const across = std::clamp(static_cast<int>(discs.size()), 1, 8);
  int const rows = (static_cast<int>(discs.size()) + across - 1) / across;
  double const cell = across == 1 ? 380 : across <= 4 ? 220 : 118, width = std::max(480.0, cell * across + 24);
  double const height = 60 + rows * (cell + 30);
  return card_svg(title, description, width, height, [&](Xml& out) {
    for (std::size_t n = 0; n < discs.size(); ++n) {
      double const column = static_cast<double>(n % across), row = static_cast<double>(n / across);
      double const left = (width - cell * across) / 2;
      draw(out, discs[n], {left + cell * (column + 0.5), 56 + cell / 2 + row * (cell + 30), cell / 2 / (edge + 0.08)});
    }
  });
}

}  // namespace sextant::report
