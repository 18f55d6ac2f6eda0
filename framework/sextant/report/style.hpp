// How an encoding looks: one colour, dash and marker for each name, the same in every plot of every study.
//
// Colour says the encoding; a scaled arm keeps it and changes dash and marker, drawn hollow. Colours are Okabe and Ito's,
// darkened for a light page where they are too pale for a line and lightened for a dark one, and extended from Tol's muted
// set; no two arms differ by colour alone. Names that are not in the list take a look from their hash.
#pragma once
#include <sextant/report/study.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace sextant::report {

enum class Marker { circle, square, triangle, diamond, down, cross, plus, star };

/// A colour of the palette on a light and on a dark page; `name` is for people.
struct Ink {
  char const* light;
  char const* dark;
  char const* name;
};
inline constexpr int ink_count = 12;
inline constexpr int grey = 6;  ///< for what is no arm's
extern std::array<Ink, ink_count> const inks;

struct Look {
  int ink = 0;       ///< index into inks; CSS class "sx-iN"
  std::string dash;  ///< SVG dash array; "" for a solid line
  Marker marker = Marker::circle;
  bool hollow = false;
  bool operator==(Look const&) const = default;
};

/// The look of an arm on its own. The same label always gets the same answer.
Look look_of(Arm const& arm);

/// Looks for all arms of a page, pairwise different: where two hashed names fall on one look, the one that sorts later
/// takes the next free one. Arms whose names are in the built-in list are never moved.
class Looks {
 public:
  explicit Looks(std::vector<Arm> const& arms);
  Look const& of(Arm const& arm) const;  ///< throws Error for an arm that was not given

 private:
  std::map<std::string, Look> by_label_;
};

}  // namespace sextant::report
