#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("linear: divides every frequency by the factor, and has no temperature", "[linear][paper]") {
  auto const linear = scaling_of("linear", {{"factor", 8.0}});
  for (double f : {1.0, 0.01, 1e-4}) CHECK(linear->inv_freq(f, {}) == f / 8);
  CHECK(linear->attention_factor({}) == 1);
}

TEST_CASE("linear: auto is target over trained length, and never below 1", "[linear]") {
  auto const linear = scaling_of("linear", {{"factor", encoding::Auto{}}});
  encoding::ScalingContext at{.trained_length = 256, .target_length = 2048};
  CHECK(linear->inv_freq(1, at) == 1.0 / 8);
  at.target_length = 128;
  CHECK(linear->inv_freq(1, at) == 1);
}

TEST_CASE("linear: tells how the scaled frequency follows the plain one", "[linear]") {
  double slope = 0;
  CHECK(scaling_of("linear", {{"factor", 4.0}})->inv_freq(0.3, {}, &slope) == 0.3 / 4);
  CHECK(slope == 0.25);
}

TEST_CASE("linear: factor 8 turns position 8 as position 1 was, and a reciprocal is refused", "[linear][R17]") {
  CHECK(8 * scaling_of("linear", {{"factor", 8.0}})->inv_freq(1, {}) == 1.0);
  CHECK_THROWS_WITH(scaling_of("linear", {{"factor", 0.125}}),
                    Catch::Matchers::ContainsSubstring("linear.factor is 0.125, expected a number >= 1"));
}
