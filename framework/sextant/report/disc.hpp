// Unit circles as SVG files: eigenvalues in the complex plane, and how far pairs turn.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace sextant::report {

/// One circle with what lies on it. Angles in radians, counter-clockwise from the right.
struct Disc {
  std::string label;
  std::vector<std::pair<double, double>>
      points;                          ///< real and imaginary part; 1.25 is the edge, what lies beyond is there
  double thick_arc = 0, thin_arc = 0;  ///< arcs from angle 0, drawn up to a whole turn; 0: none
};

/// A row of discs, at most eight across, with a title; light and dark as the viewer prefers. `description` is read out in
/// place of the picture.
std::string discs_svg(std::string const& title, std::string const& description, std::vector<Disc> const& discs);

}  // namespace sextant::report
