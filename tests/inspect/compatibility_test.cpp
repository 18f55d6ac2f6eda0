#include <sextant/inspect/compatibility.hpp>

#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::inspect;
using encoding::Registry;
using encoding::Role;

namespace {
std::string reason(Compatibility const& found, Composition composition, std::string const& first,
                   std::string const& second) {
  for (auto const& c : found.combinations) {
    auto const& others = composition == Composition::scaling ? found.scalings : found.encodings;
    if (c.composition == composition && found.encodings[c.first].use == first && others[c.second].use == second)
      return c.reason;
  }
  FAIL("no " << first << " with " << second);
  return "";
}
}  // namespace

TEST_CASE("compatibility: every plugin is in the table, with every other, in every composition", "[inspect][matrix]") {
  auto const found = compatibility(Registry::global());
  auto const encodings = Registry::global().names(Role::encoding), scalings = Registry::global().names(Role::scaling);
  CHECK(found.encodings.size() + found.scalings.size() + found.not_asked.size() == encodings.size() + scalings.size());
  std::size_t const n = found.encodings.size();
  CHECK(found.combinations.size() == n * (found.scalings.size() + 3 * n));
  for (auto const& c : found.combinations)  // an encoding that fits nothing at this shape has no place in the table
    if (c.composition == Composition::sum && found.encodings[c.second].use == "nope" &&
        found.encodings[c.first].use != "randomised" && found.encodings[c.first].use != "pose") {  // they stand alone
      INFO(found.encodings[c.first].use);
      CHECK(c.reason.empty());
    }
}

TEST_CASE("compatibility: what the design says works does, and the rest is refused for its reason",
          "[inspect][matrix]") {
  using Catch::Matchers::ContainsSubstring;
  auto const found = compatibility(Registry::global());
  for (std::string const scaling : {"linear", "ntk", "yarn"}) {
    CHECK(reason(found, Composition::scaling, "rope", scaling).empty());
    CHECK_THAT(reason(found, Composition::scaling, "alibi", scaling), ContainsSubstring(scaling + " scales rotary"));
  }
  CHECK(reason(found, Composition::sum, "rope", "alibi").empty());
  CHECK(reason(found, Composition::sum, "fox", "rope").empty());
  CHECK_THAT(reason(found, Composition::sum, "rope", "grape_m"),
             ContainsSubstring("would both turn the same channels"));
  CHECK(reason(found, Composition::channels, "rope", "grape_m").empty());  // each has channels of its own
  CHECK(reason(found, Composition::heads, "rope", "alibi").empty());
}
