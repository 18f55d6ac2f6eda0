#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("ntk: is the ladder of base times factor^(d/(d-2))", "[ntk][paper]") {
  auto const ntk = scaling_of("ntk", {{"factor", 8.0}});
  double const raised = 10000 * std::pow(8.0, 128.0 / 126);
  for (int f : {0, 1, 31, 63}) {
    encoding::ScalingContext const at{.pair = f, .rotary_dim = 128};
    CHECK(ntk->inv_freq(std::pow(10000.0, -2.0 * f / 128), at) ==
          Catch::Approx(std::pow(raised, -2.0 * f / 128)).epsilon(1e-13));
  }
}

TEST_CASE("ntk: the fastest pair stays, the slowest slows by exactly the factor", "[ntk][paper]") {
  auto const ntk = scaling_of("ntk", {{"factor", 5.0}});
  CHECK(ntk->inv_freq(1, {.pair = 0, .rotary_dim = 64}) == 1);
  CHECK(ntk->inv_freq(1e-4, {.pair = 31, .rotary_dim = 64}) == Catch::Approx(2e-5).epsilon(1e-14));
}
