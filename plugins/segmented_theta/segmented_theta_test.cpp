#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace segmented_theta_test {
namespace {
using List = std::vector<double>;
Options const dims{{"seg_start", List{0, 3, 6}}, {"seg_base", List{1e4, 4e4, 2.5e5}}};
}  // namespace

TEST_CASE("segmented_theta: a pair takes its segment's theta, the exponent counts over all pairs",
          "[segmented_theta]") {
  auto const ladder = ladder_of(*encoding_of("segmented_theta", dims), heads_of(1, 16));
  for (int f = 0; f < 8; ++f) {
    double const theta = f < 3 ? 1e4 : f < 6 ? 4e4 : 2.5e5;
    CHECK(ladder[f] == Catch::Approx(std::pow(theta, -2.0 * f / 16)).epsilon(1e-14));
  }
}

TEST_CASE("segmented_theta: with exponent segment every run starts again at 1", "[segmented_theta]") {
  Options anew = dims;
  anew["exponent"] = std::string("segment");
  anew["seg_rate"] = List{1, 1, 0.5};
  auto const ladder = ladder_of(*encoding_of("segmented_theta", anew), heads_of(1, 16));
  CHECK(ladder[0] == 1);
  CHECK(ladder[3] == 1);
  CHECK(ladder[4] == Catch::Approx(std::pow(4e4, -1.0 / 3)).epsilon(1e-14));
  CHECK(ladder[6] == 0.5);
  CHECK(ladder[7] == Catch::Approx(0.5 * std::pow(2.5e5, -0.5)).epsilon(1e-14));
}

TEST_CASE("segmented_theta: over positions the phase is continuous and slows from segment to segment",
          "[segmented_theta]") {
  auto const bent = encoding_of(
      "segmented_theta",
      {{"axis", std::string("positions")}, {"seg_start", List{0, 6, 13}}, {"seg_rate", List{1, 0.5, 0.125}}});
  CHECK(bent->phase(4) == 4);
  CHECK(bent->phase(6) == 6);
  CHECK(bent->phase(10) == 8);
  CHECK(bent->phase(13) == 9.5);
  CHECK(bent->phase(21) == 10.5);
  CHECK_THROWS_WITH(bent->phase(-1), Catch::Matchers::ContainsSubstring("starts at 0, found position -1"));
}

TEST_CASE("segmented_theta: one segment is rope, and a part of the head may turn", "[segmented_theta]") {
  Options const one{{"seg_start", List{0}}, {"seg_base", List{1e4}}, {"rotary_dim", std::int64_t{8}}};
  auto const ladder = ladder_of(*encoding_of("segmented_theta", one), heads_of(1, 16));
  CHECK(ladder == ladder_of(*encoding_of("rope"), heads_of(1, 8)));
}

TEST_CASE("segmented_theta: segments that do not rise, or do not match, are refused", "[segmented_theta]") {
  auto const refused = [](List start, List base) {
    return refusal_of(*encoding_of("segmented_theta", {{"seg_start", start}, {"seg_base", base}}), heads_of(1, 16));
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refused({0, 4, 4}, {9, 9, 9}), ContainsSubstring("must rise: entry 3 is 4 after 4"));
  CHECK_THAT(refused({0, 4}, {9}), ContainsSubstring("seg_base has 1 entries, expected 2"));
  CHECK_THAT(refused({1}, {9}), ContainsSubstring("begins with 1, expected pair 0"));
  CHECK_THAT(refused({0, 8}, {9, 9}), ContainsSubstring("expected a pair from 0 to 7"));
}
}  // namespace segmented_theta_test
