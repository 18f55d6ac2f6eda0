#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;
using List = std::vector<double>;

TEST_CASE("segmented: over a trained rope it is the encoding segmented_theta", "[segmented][paper]") {
  for (char const* exponent : {"global", "segment"}) {
    Options const options{{"seg_start", List{0, 3, 6}},
                          {"seg_base", List{1e4, 4e4, 2.5e5}},
                          {"seg_rate", List{1, 1, 0.5}},
                          {"exponent", std::string(exponent)}};
    auto const expected = ladder_of(*encoding_of("segmented_theta", options), heads_of(1, 16));
    auto const rope = ladder_of(*encoding_of("rope", {{"base", 700.0}}), heads_of(1, 16));
    auto const scaling = scaling_of("segmented", options);
    for (int pair = 0; pair < 8; ++pair)
      CHECK(scaling->inv_freq(rope[pair], {.pair = pair, .rotary_dim = 16, .base = 700.0}) ==
            Catch::Approx(expected[pair]).epsilon(1e-13));
  }
}

TEST_CASE("segmented: over positions frequencies stay and the phase bends", "[segmented]") {
  auto const scaling = scaling_of(
      "segmented",
      {{"axis", std::string("positions")}, {"seg_start", List{0, 6, 13}}, {"seg_rate", List{1, 0.5, 0.125}}});
  CHECK(scaling->inv_freq(0.3, {.pair = 2, .rotary_dim = 16, .base = 1e4}) == 0.3);
  CHECK(scaling->phase(4, {}) == 4);
  CHECK(scaling->phase(10, {}) == 8);
  CHECK(scaling->phase(21, {}) == 10.5);
  CHECK_THROWS_WITH(scaling->phase(-1, {}), Catch::Matchers::ContainsSubstring("segmented over positions starts at 0"));
}
