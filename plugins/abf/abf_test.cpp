#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("abf: is the ladder of the new base", "[abf][paper]") {
  auto const abf = scaling_of("abf", {{"base", 1e6}});
  for (int pair : {0, 1, 40, 63})
    CHECK(abf->inv_freq(std::pow(10000.0, -pair / 64.0), {.pair = pair, .rotary_dim = 128, .base = 10000.0}) ==
          Catch::Approx(std::pow(1e6, -pair / 64.0)).epsilon(1e-14));
  CHECK(abf->attention_factor({}) == 1);
}

TEST_CASE("abf: takes 500000 unless told, and needs a base to replace", "[abf]") {
  CHECK(scaling_of("abf")->ladder({10000}, {})->base == 500000);
  CHECK_THROWS_WITH(scaling_of("abf")->check({.rotary_dim = 8}), Catch::Matchers::ContainsSubstring("one base"));
}
