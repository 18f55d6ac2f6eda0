#include "support/plugin.hpp"

using namespace sextant::test;

TEST_CASE("nope: joins no stage and owns nothing", "[nope]") {
  auto const nope = encoding_of("nope");
  auto const stages = nope->stages(heads_of(4));
  CHECK_FALSE((stages.embed || stages.rotate || stages.bias));
  CHECK(stages.gates.empty());
  CHECK(nope->parameters(heads_of(4)).empty());
}
