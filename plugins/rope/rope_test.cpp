#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("rope: frequencies fall from 1 in powers of the base", "[rope][paper]") {
  auto const ladder = ladder_of(*encoding_of("rope"), heads_of(1, 8));
  REQUIRE(ladder.size() == 4);
  double const published[] = {1, 0.1, 0.01, 0.001};
  for (int f = 0; f < 4; ++f) CHECK(ladder[f] == Catch::Approx(published[f]).epsilon(1e-14));
}

TEST_CASE("rope: a partial turn counts its own channels in the exponent", "[rope][R28]") {
  auto const ladder = ladder_of(*encoding_of("rope", {{"rotary_dim", std::int64_t{4}}}), heads_of(1, 8));
  REQUIRE(ladder.size() == 2);
  CHECK(ladder[1] == Catch::Approx(0.01).epsilon(1e-14));  // 0.1 is the fault
  CHECK(ladder_of(*encoding_of("rope", {{"share", 0.25}}), heads_of(1, 64)).size() == 8);
}

TEST_CASE("rope: base 500000 at width 128 gives Llama 3's plain frequencies", "[rope]") {
  auto const ladder = ladder_of(*encoding_of("rope", {{"base", 500000.0}}), heads_of(1, 128));
  CHECK(ladder[1] == Catch::Approx(0.8146171).epsilon(1e-6));
  CHECK(ladder[63] == Catch::Approx(std::pow(500000.0, -126.0 / 128)).epsilon(1e-13));
}

TEST_CASE("rope: p-RoPE keeps the fastest frequencies of the ladder and stops the others", "[rope][paper]") {
  auto const ladder = ladder_of(*encoding_of("rope"), heads_of(1, 16));
  auto const some = ladder_of(*encoding_of("rope", {{"turning", 0.75}}), heads_of(1, 16));
  REQUIRE(some.size() == 8);
  for (int f = 0; f < 8; ++f) CHECK(some[f] == (f < 6 ? ladder[f] : 0));
  for (double f : ladder_of(*encoding_of("rope", {{"turning", 0.0}}), heads_of(1, 16))) CHECK(f == 0);
  CHECK(ladder_of(*encoding_of("rope", {{"turning", 0.3}}), heads_of(1, 20))[3] == 0);
  CHECK(ladder_of(*encoding_of("rope", {{"turning", 0.3}}), heads_of(1, 20))[2] > 0);  // 0.3 of 10 pairs is 3
}
