#include "support/plugin.hpp"

#include <sextant/encoding/position.hpp>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("bias_stretch: auto stretches by evaluated over trained length, and not below 1", "[bias_stretch]") {
  auto const stretch = [](double target) {
    encoding::Position const position({{{"alibi", {}, {}}}, {{"bias_stretch", {{"factor", encoding::Auto{}}}, {}}}, 64},
                                      encoding::Registry::global(), heads_of(2, 8), target);
    return position.stretch(position.terms()[0]);
  };
  CHECK(stretch(256) == 4);
  CHECK(stretch(64) == 1);
  CHECK(stretch(10) == 1);
}

TEST_CASE("bias_stretch: leaves what turns alone", "[bias_stretch]") {
  auto const scaling = scaling_of("bias_stretch", {{"factor", 4.0}});
  CHECK(scaling->inv_freq(0.3, {}) == 0.3);
  CHECK(scaling->attention_factor({}) == 1);
  CHECK_FALSE(scaling->stages().turns());
}
