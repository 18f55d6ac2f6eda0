#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
auto rerope(int window, double leak = 0) {
  return encoding_of("rerope", {{"window", std::int64_t{window}}, {"leak", leak}});
}
}  // namespace

TEST_CASE("rerope: distances are RoPE's within the window and stay at it beyond", "[rerope][paper]") {
  auto const e = rerope(5);
  for (double i : {0.0, 3.0, 7.25, 40.0})
    for (double j = 0; j <= i; j += 0.25)
      CHECK(*counted_distance(*e, i, j) == Catch::Approx(i - j < 5 ? i - j : 5).margin(1e-13));
}

TEST_CASE("rerope: leaky distances grow by 1/k past the window", "[rerope][paper]") {
  auto const e = rerope(4, 8);
  double const published[] = {0, 1, 2, 3, 4, 4.125, 4.25, 4.375, 4.5};
  for (int d = 0; d < 9; ++d)
    for (double start : {0.0, 0.5, 1000.0}) CHECK(*counted_distance(*e, start + d, start) == published[d]);
}

TEST_CASE("rerope: a window past the length, or leak 1, is rope", "[rerope]") {
  for (auto const& e : {rerope(65), rerope(5, 1), rerope(0, 1)})
    for (double i = 0; i < 64; i += 0.5)
      for (double j = 0; j <= i; j += 0.5) REQUIRE(*counted_distance(*e, i, j) == Catch::Approx(i - j).margin(1e-13));
  CHECK(ladder_of(*rerope(5), heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("rerope: a shift of all positions leaves every distance as it is", "[rerope]") {
  for (auto const& e : {rerope(5), rerope(4, 8)})
    for (int i = 0; i < 30; ++i)
      for (int j = 0; j <= i; ++j)
        CHECK(*counted_distance(*e, i + 1024, j + 1024) == Catch::Approx(*counted_distance(*e, i, j)).margin(1e-12));
}

TEST_CASE("rerope: a key that is plain meets a query at the window's edge, whatever their positions", "[rerope]") {
  auto const e = rerope(5);
  CHECK(e->query_phase(1, 700) == 5);
  CHECK(e->key_phase(e->key_set(1), 600) == 0);
  CHECK(e->key_sets() == 2);
}

TEST_CASE("rerope: blocks take one branch exactly where all their pairs do", "[rerope][blocks]") {
  for (int window : {0, 5}) CHECK(check_blocks(*rerope(window), 24) == std::set<int>{0, 1, BranchRule::mixed});
  check_blocks_of_fractions(*rerope(5, 3), 24);
}

TEST_CASE("rerope: a leak that would stretch distances is refused", "[rerope]") {
  CHECK_THAT(refusal_of(*rerope(5, 0.5), heads_of(1)),
             Catch::Matchers::ContainsSubstring("rerope.leak is 0.5, expected 0") &&
                 Catch::Matchers::ContainsSubstring("at least 1"));
}
