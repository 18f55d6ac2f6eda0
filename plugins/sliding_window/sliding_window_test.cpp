#include "support/plugin.hpp"

#include <limits>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("sliding_window: the last three tokens are seen, the query among them", "[sliding_window][paper]") {
  auto const window = encoding_of("sliding_window", {{"window", 3.0}});
  double const inf = std::numeric_limits<double>::infinity();
  double const expected[] = {-inf, -inf, -inf, 0, 0, 0, 0, 0, -inf};  // keys 0..8 of the query at 5
  for (int key = 0; key < 9; ++key)
    CHECK(window->bias_at(heads_of(1), nullptr, {0, 1}, 5, key, nullptr, nullptr) == expected[key]);
}

TEST_CASE("sliding_window: a window of at least the length changes nothing", "[sliding_window][law]") {
  auto const window = encoding_of("sliding_window", {{"window", 64.0}});
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) CHECK(window->bias_at(heads_of(1), nullptr, {0, 1}, i, j, nullptr, nullptr) == 0);
}
