#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("logn: the factor is 1 at the trained length and grows with the logarithm past it", "[logn][paper]") {
  auto const logn = encoding_of("logn", {{"trained_length", 64.0}, {"clip", false}});
  CHECK(logn->query_scale(63) == Catch::Approx(1).epsilon(1e-15));
  CHECK(logn->query_scale(4095) == Catch::Approx(2).epsilon(1e-15));  // 64^2
  CHECK(logn->query_scale(7) == Catch::Approx(0.5).epsilon(1e-15));   // 64^(1/2)
  CHECK(logn->query_scale(0) == 0);
}

TEST_CASE("logn: with clip nothing changes within the trained length", "[logn][law]") {
  auto const logn = encoding_of("logn", {{"trained_length", 64.0}});
  for (double p : {-3.0, 0.0, 1.0, 30.0, 62.0}) CHECK(logn->query_scale(p) == 1);
  CHECK(logn->query_scale(4095) == Catch::Approx(2).epsilon(1e-15));
}

TEST_CASE("logn: the trained length has to be given", "[logn]") {
  CHECK_THROWS_WITH(encoding_of("logn"), Catch::Matchers::ContainsSubstring("trained_length"));
}
