#include "support/plugin.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("truncated: pairs that complete a turn stay, slower ones share a frequency, the slowest stop",
          "[truncated][paper]") {
  auto const truncated = scaling_of("truncated", {{"original_length", 1000.0}});
  double const once = 2 * std::numbers::pi / 1000;
  auto const of = [&](double turns) { return truncated->inv_freq(turns * once, {.rotary_dim = 8}) / once; };
  CHECK(of(7) == Catch::Approx(7).epsilon(1e-15));
  CHECK(of(1.001) == Catch::Approx(1.001).epsilon(1e-15));
  for (double turns : {0.999, 0.5, 0.126}) CHECK(of(turns) == Catch::Approx(1.0 / 16).epsilon(1e-14));
  CHECK(of(0.124) == 0);
}
