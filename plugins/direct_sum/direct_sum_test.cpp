#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
std::vector<encoding::Encoding::Region> regions(Options options, std::vector<double> shares) {
  options["shares"] = shares;
  std::vector<encoding::Choice> const parts(shares.size(), encoding::Choice{"nope", {}, {}});
  auto const sum = encoding::Registry::global().make_encoding({"direct_sum", options, parts});
  return sum->regions(heads_of(6, 8), static_cast<int>(shares.size()));
}
}  // namespace

TEST_CASE("direct_sum: over channels each part gets its slice of every head", "[direct_sum]") {
  auto const r = regions({}, {3, 1});
  REQUIRE(r.size() == 2);
  CHECK(r[0].channels == 6);
  CHECK(r[1].channel_begin == 6);
  CHECK(r[1].channels == 2);
  CHECK((r[0].heads == 6 && r[1].heads == 6 && r[1].head_begin == 0));
}

TEST_CASE("direct_sum: over heads each part gets whole heads, and sees itself alone or in its place", "[direct_sum]") {
  auto const r = regions({{"over", std::string("heads")}}, {2, 4});
  CHECK((r[0].heads == 2 && r[1].head_begin == 2 && r[1].heads == 4));
  CHECK((r[0].channels == 8 && r[1].channels == 8));
  CHECK_FALSE(r[1].formula_sees_all_heads);
  CHECK(
      regions({{"over", std::string("heads")}, {"slope_set", std::string("full")}}, {1, 1})[1].formula_sees_all_heads);
}

TEST_CASE("direct_sum: shares are relative, and three parts are as good as two", "[direct_sum]") {
  auto const r = regions({}, {0.5, 0.25, 0.25});
  CHECK((r[0].channels == 4 && r[1].channels == 2 && r[2].channels == 2 && r[2].channel_begin == 6));
  CHECK_THROWS_WITH(regions({}, {1, 2}), Catch::Matchers::ContainsSubstring("expected a whole number"));
}
