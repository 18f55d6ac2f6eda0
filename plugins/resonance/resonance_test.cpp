#include "support/plugin.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("resonance: wavelengths of base 10000 on heads of 8 become 6, 63, 628 and 6283 tokens",
          "[resonance][paper]") {
  auto const resonance = scaling_of("resonance");
  int const expected[] = {6, 63, 628, 6283};
  for (int pair = 0; pair < 4; ++pair) {
    double const f = resonance->inv_freq(std::pow(10000.0, -pair / 4.0), {.pair = pair, .rotary_dim = 8});
    CHECK(2 * std::numbers::pi / f == Catch::Approx(expected[pair]).epsilon(1e-15));
    CHECK(std::cos(f * 5) == Catch::Approx(std::cos(f * (5 + 3 * expected[pair]))).epsilon(1e-12));
  }
}

TEST_CASE("resonance: a frequency hardly moves the whole wavelength beside it", "[resonance]") {
  double slope = 1;
  scaling_of("resonance")->inv_freq(0.1, {}, &slope);
  CHECK(slope == 0);
  CHECK(scaling_of("resonance")->inv_freq(-0.1, {}) == -scaling_of("resonance")->inv_freq(0.1, {}));
  CHECK(scaling_of("resonance")->inv_freq(30, {}) ==
        Catch::Approx(2 * std::numbers::pi));  // never shorter than a token
}
