#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("grape_m: starts as rope, whatever divides its logarithms", "[grape_m][paper]") {
  auto const rope = ladder_of(*encoding_of("rope"), heads_of(2, 8));
  for (double scale : {1.0, 16.0}) {
    auto const start = ladder_of(*encoding_of("grape_m", {{"log_freq_scale", scale}}), heads_of(2, 8));
    REQUIRE(start.size() == 4);
    for (int f = 0; f < 4; ++f) CHECK(start[f] == Catch::Approx(rope[f]).epsilon(1e-14));
  }
}

TEST_CASE("grape_m: one set of logarithms, or one a head", "[grape_m]") {
  auto const shared = encoding_of("grape_m")->parameters(heads_of(3, 8));
  REQUIRE(shared.size() == 1);
  CHECK(shared[0].name == "log_freq");
  CHECK(shared[0].shape == std::vector<std::size_t>{1, 4});
  auto const own = encoding_of("grape_m", {{"per_head", true}})->parameters(heads_of(3, 8));
  CHECK(own[0].shape == std::vector<std::size_t>{3, 4});
}

TEST_CASE("grape_m: the paper turns counter-clockwise in adjacent pairs, the released code the other way in halves",
          "[grape_m][paper]") {
  auto const paper = encoding_of("grape_m")->rotary(heads_of(1));
  CHECK(paper.orientation == 1);
  CHECK(paper.layout == encoding::Layout::interleaved);
  auto const code =
      encoding_of("grape_m", {{"orientation", std::string("clockwise")}, {"layout", std::string("half")}});
  CHECK(code->rotary(heads_of(1)).orientation == -1);
}
