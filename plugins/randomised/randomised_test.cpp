#include "support/plugin.hpp"

#include <sextant/encoding/position.hpp>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("randomised: hands its one part the whole head and draws from its range", "[randomised]") {
  auto const plugin = encoding::Registry::global().make_encoding(
      {"randomised", {{"below", std::int64_t{64}}, {"at_evaluation", false}}, {{"rope", {}, {}}}});
  REQUIRE(plugin->sampler());
  CHECK(plugin->sampler()->below == 64);
  CHECK_FALSE(plugin->sampler()->evaluates);
  auto const regions = plugin->regions(heads_of(3, 8), 1);
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].heads == 3);
  CHECK(regions[0].channels == 8);
  CHECK_THROWS_WITH(plugin->regions(heads_of(3, 8), 2), Catch::Matchers::ContainsSubstring("has 2 parts, expected 1"));
}

TEST_CASE("randomised: is refused inside a composite or beside another encoding", "[randomised]") {
  encoding::Choice const wrapped{"randomised", {}, {{"rope", {}, {}}}};
  encoding::Shape const shape = heads_of(2, 8);
  auto const make = [&](std::vector<encoding::Choice> encodings) {
    return encoding::Position({std::move(encodings), {}, 16}, encoding::Registry::global(), shape);
  };
  CHECK(make({wrapped}).sampler()->below == 2048);
  CHECK(make({wrapped}).terms().size() == 1);
  CHECK_THROWS_WITH(make({wrapped, {"alibi", {}, {}}}), Catch::Matchers::ContainsSubstring("expected it alone"));
  CHECK_THROWS_WITH(make({{"randomised", {}, {wrapped}}}), Catch::Matchers::ContainsSubstring("drawn already"));
}
