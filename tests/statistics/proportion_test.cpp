#include <sextant/base/error.hpp>
#include <sextant/statistics/proportion.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using Catch::Matchers::WithinAbs;
using sextant::statistics::wilson;

TEST_CASE("wilson: Newcombe's published intervals", "[statistics][paper]") {
  // Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
  struct {
    int successes, n;
    double low, high;
  } const published[] = {
      {81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}};
  for (auto const& row : published) {
    auto const found = wilson(row.successes, row.n, 0.95);
    CHECK_THAT(found.low, WithinAbs(row.low, 6e-5));
    CHECK_THAT(found.high, WithinAbs(row.high, 6e-5));
  }
}
TEST_CASE("wilson: successes and failures mirror each other, and nothing is 0 trials", "[statistics]") {
  auto const some = wilson(3, 17, 0.9), rest = wilson(14, 17, 0.9);
  CHECK_THAT(some.low, WithinAbs(1 - rest.high, 1e-12));
  CHECK(wilson(17, 17, 0.9).high == 1);
  CHECK_THROWS_AS(wilson(0, 0, 0.95), sextant::Error);
  CHECK_THROWS_AS(wilson(3, 2, 0.95), sextant::Error);
}
