// Inside of the chart writer: colours by class, markers, and numbers as SVG wants them.
#pragma once
#include <sextant/report/style.hpp>
#include <sextant/report/xml.hpp>

#include <array>
#include <string>
#include <string_view>

namespace sextant::report {

/// A colour that is not an arm's, by class (sx-ink, sx-muted ...): what a light and a dark page use.
struct Part {
  char const* name;
  char const* light;
  char const* dark;
};
extern std::array<Part, 6> const parts;

/// ASCII without trailing zeros; two decimals are a hundredth of a pixel.
std::string num(double value);

/// SVG path data, written left to right.
class Path {
 public:
  Path& move(double x, double y) { return step("M", x, y); }
  Path& line(double x, double y) { return step("L", x, y); }
  /// `down` as with a pen: draw to the point, or go there.
  Path& to(bool down, double x, double y) { return down ? line(x, y) : move(x, y); }
  Path& right_to(double x) { return step("H", x); }
  Path& down_to(double y) { return step("V", y); }
  Path& close();
  bool empty() const { return data_.empty(); }
  std::string const& str() const { return data_; }

 private:
  Path& step(char const* command, double x);
  Path& step(char const* command, double x, double y);
  std::string data_;
};

/// Attributes of a <path> that draws the look's marker of radius r around (x, y) in the current colour.
Attributes marker_attributes(Look const& look, double x, double y, double r);

/// Attributes of a <g>: the class decides the colour where a style sheet is, the attribute where none is.
Attributes ink_group(Look const& look, std::string const& classes);
Attributes part_group(std::string const& part);

}  // namespace sextant::report
