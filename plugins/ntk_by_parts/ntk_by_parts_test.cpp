#include "support/plugin.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

namespace {
/// Ratio to the plain frequency of a pair that turns `turns` times within 4096 tokens.
double ratio(encoding::Scaling const& scaling, double turns) {
  double const plain = turns * 2 * std::numbers::pi / 4096;
  return scaling.inv_freq(plain, {.rotary_dim = 128, .trained_length = 4096}) / plain;
}
}  // namespace

TEST_CASE("ntk_by_parts: the ramp is linear in the turns, from 1 to 32", "[ntk_by_parts][paper]") {
  auto const scaling = scaling_of("ntk_by_parts", {{"factor", 8.0}});
  CHECK(ratio(*scaling, 0.9) == Catch::Approx(1.0 / 8).epsilon(1e-14));
  CHECK(ratio(*scaling, 16.5) == Catch::Approx(0.5 + 0.5 / 8).epsilon(1e-12));
  CHECK(ratio(*scaling, 33) == Catch::Approx(1).epsilon(1e-14));
  auto const narrow = scaling_of("ntk_by_parts", {{"factor", 8.0}, {"alpha", 2.0}, {"beta", 4.0}});
  CHECK(ratio(*narrow, 3) == Catch::Approx(0.5 + 0.5 / 8).epsilon(1e-12));
}

TEST_CASE("ntk_by_parts: between the ends it is another curve than yarn", "[ntk_by_parts][paper]") {
  // The pair half-way up yarn's ramp turns far less than half of 32 times.
  auto const parts = scaling_of("ntk_by_parts", {{"factor", 4.0}, {"original_length", 4096.0}});
  auto const yarn = scaling_of("yarn", {{"factor", 4.0}, {"original_length", 4096.0}});
  double most = 0;
  for (int pair = 0; pair < 64; ++pair) {
    double const plain = std::pow(10000.0, -pair / 64.0);
    encoding::ScalingContext const at{.pair = pair, .rotary_dim = 128, .base = 10000.0};
    most = std::max(most, yarn->inv_freq(plain, at) / parts->inv_freq(plain, at));
  }
  CHECK(most == Catch::Approx(1.7).margin(0.05));
}

TEST_CASE("ntk_by_parts: a frequency's slope counts that it moves the ramp", "[ntk_by_parts]") {
  auto const scaling = scaling_of("ntk_by_parts", {{"factor", 8.0}});
  encoding::ScalingContext const at{.rotary_dim = 128, .trained_length = 4096};
  double slope = 0;
  scaling->inv_freq(0.02, at, &slope);
  CHECK(slope == Catch::Approx((scaling->inv_freq(0.02 + 1e-7, at) - scaling->inv_freq(0.02 - 1e-7, at)) / 2e-7));
  CHECK_THROWS_WITH(scaling_of("ntk_by_parts", {{"factor", 2.0}, {"alpha", 4.0}, {"beta", 4.0}})->check(at),
                    Catch::Matchers::ContainsSubstring("beta is 4, expected more than alpha, 4"));
}
