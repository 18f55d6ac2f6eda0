#include "support/plugin.hpp"

#include <sextant/encoding/position.hpp>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("drope: no pair turns, and the temperature multiplies every query", "[drope][paper]") {
  encoding::Position const position({{{"rope", {}, {}}}, {{"drope", {{"temperature", 1.5}}, {}}}, 64},
                                    encoding::Registry::global(), heads_of(2, 8));
  auto const found = position.frequencies(position.terms()[0], {}, nullptr, 1000);
  CHECK(found.inv_freq == std::vector<double>(4, 0.0));
  CHECK(found.attention_factor == 1);
  for (int layer : {0, 7}) CHECK(position.query_scale(position.terms()[0], layer, 123) == 1.5);
}
