#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("linear_exponent: is the misprinted formula, 22300 times too fast at the slowest pair", "[linear_exponent]") {
  auto const wrong = scaling_of("linear_exponent", {{"factor", 8.0}}), right = scaling_of("linear", {{"factor", 8.0}});
  for (int pair : {0, 1, 63}) {
    encoding::ScalingContext const at{.pair = pair, .rotary_dim = 128, .base = 10000.0};
    double const plain = std::pow(10000.0, -pair / 64.0);
    CHECK(wrong->inv_freq(plain, at) == Catch::Approx(std::pow(10000.0, -pair / (8 * 64.0))).epsilon(1e-13));
    if (pair == 63)
      CHECK(wrong->inv_freq(plain, at) / right->inv_freq(plain, at) == Catch::Approx(22300).epsilon(0.01));
  }
}
