#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("eabf: turns as abf does", "[eabf][paper]") {
  auto const eabf = scaling_of("eabf"), abf = scaling_of("abf");
  for (int pair : {0, 5, 31}) {
    encoding::ScalingContext const at{.pair = pair, .rotary_dim = 64, .base = 10000.0, .trained_length = 4096};
    CHECK(eabf->inv_freq(0.3, at) == abf->inv_freq(0.3, at));
  }
}

TEST_CASE("eabf: queries past the trained length grow with the logarithm of their position, from the third layer on",
          "[eabf][paper]") {
  auto const eabf = scaling_of("eabf", {{"original_length", 4096.0}});
  for (double position : {0.0, 1.0, 4000.0, 4095.0}) CHECK(eabf->query_scale(position, 5, {}) == 1);
  CHECK(eabf->query_scale(16383, 2, {}) == Catch::Approx(std::log(16384.0) / std::log(4096.0)).epsilon(1e-15));
  CHECK(eabf->query_scale(16383, 1, {}) == 1);
  CHECK(scaling_of("eabf", {{"original_length", 4096.0}, {"first_layer", 0.0}})->query_scale(16383, 0, {}) > 1.16);
}
