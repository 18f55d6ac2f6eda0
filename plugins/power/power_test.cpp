#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("power: pairs slow by a power of their place", "[power][paper]") {
  auto const half = scaling_of("power", {{"power", 0.5}});
  for (int pair = 0; pair < 4; ++pair)
    CHECK(half->inv_freq(0.2, {.pair = pair, .rotary_dim = 8}) ==
          Catch::Approx(0.2 * std::sqrt(1 - pair / 4.0)).epsilon(1e-14));
  CHECK(scaling_of("power", {{"power", 0.0}})->inv_freq(0.2, {.pair = 3, .rotary_dim = 8}) == 0.2);
}
