#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("half_rope: a quarter of head_dim frequencies from 1 to 1/1024, then as many zeros", "[half_rope][paper]") {
  auto const ladder = ladder_of(*encoding_of("half_rope"), heads_of(1, 24));
  REQUIRE(ladder.size() == 12);
  double const published[] = {1, 0.25, 0.0625, 0.015625, 0.00390625, 0.0009765625};  // (1/1024)^linspace(0, 1, 6)
  for (int f = 0; f < 6; ++f) CHECK(ladder[f] == Catch::Approx(published[f]).epsilon(1e-14));
  for (int f = 6; f < 12; ++f) CHECK(ladder[f] == 0);
}

TEST_CASE("half_rope: turns clockwise unless told otherwise, and needs a quarter of the head", "[half_rope]") {
  CHECK(encoding_of("half_rope")->rotary(heads_of(1, 8)).orientation == -1);
  CHECK(encoding_of("half_rope", {{"orientation", std::string("counter_clockwise")}})
            ->rotary(heads_of(1, 8))
            .orientation == 1);
  CHECK_THAT(refusal_of(*encoding_of("half_rope"), heads_of(1, 10)),
             Catch::Matchers::ContainsSubstring("head_dim is 10, expected a multiple of 4"));
  CHECK_THAT(refusal_of(*encoding_of("half_rope"), heads_of(1, 4)), Catch::Matchers::ContainsSubstring("from 8 on"));
}
