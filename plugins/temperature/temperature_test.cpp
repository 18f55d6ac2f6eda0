#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("temperature: one factor at every position, and it has to be given and be positive", "[temperature]") {
  auto const hot = encoding_of("temperature", {{"factor", 1.5}});
  for (double p : {0.0, 7.0, 1e6}) CHECK(hot->query_scale(p) == 1.5);
  CHECK(hot->stages(heads_of(1)).scale_query);
  CHECK_THROWS_WITH(encoding_of("temperature"), Catch::Matchers::ContainsSubstring("factor"));
  CHECK_THROWS_WITH(encoding_of("temperature", {{"factor", 0.0}}),
                    Catch::Matchers::ContainsSubstring("expected a number > 0"));
}
