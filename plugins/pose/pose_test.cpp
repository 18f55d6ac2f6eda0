#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("pose: hands its one part the whole head, and skips while training alone", "[pose]") {
  auto const plugin =
      encoding::Registry::global().make_encoding({"pose", {{"below", std::int64_t{64}}}, {{"rope", {}, {}}}});
  REQUIRE(plugin->sampler());
  CHECK(plugin->sampler()->below == 64);
  CHECK(plugin->sampler()->skips);
  CHECK_FALSE(plugin->sampler()->evaluates);
  CHECK(plugin->regions(heads_of(3, 8), 1).at(0).heads == 3);
  CHECK_THROWS_WITH(plugin->regions(heads_of(3, 8), 2), Catch::Matchers::ContainsSubstring("has 2 parts, expected 1"));
}
