#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace self_extend_test {
namespace {
auto extend(int group, int window) {
  return encoding_of("self_extend", {{"group", std::int64_t{group}}, {"window", std::int64_t{window}}});
}
/// The definition in whole numbers.
long distance(long i, long j, long g, long w) { return i - j < w ? i - j : i / g + w - w / g - j / g; }
}  // namespace

TEST_CASE("self_extend: neighbours keep their distance, others have that of their groups", "[self_extend][paper]") {
  for (auto const& [g, w] : {std::pair{3, 5}, {4, 8}, {8, 3}, {2, 0}})
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j <= i; ++j) REQUIRE(*counted_distance(*extend(g, w), i, j) == distance(i, j, g, w));
}

TEST_CASE("self_extend: group 1, or a window past the length, is rope", "[self_extend]") {
  for (auto const& e : {extend(1, 5), extend(3, 61)})
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j <= i; ++j) REQUIRE(*counted_distance(*e, i, j) == i - j);
  CHECK(ladder_of(*extend(3, 5), heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("self_extend: a shift by a multiple of the group is free, and only that", "[self_extend]") {
  auto const e = extend(3, 5);
  for (int shift = 1; shift <= 6; ++shift) {
    bool same = true;
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j <= i; ++j) same &= *counted_distance(*e, i + shift, j + shift) == *counted_distance(*e, i, j);
    CHECK(same == (shift % 3 == 0));
  }
}

TEST_CASE("self_extend: along a row distances never fall as keys lie further back", "[self_extend]") {
  for (auto const& [g, w] : {std::pair{3, 5}, {4, 8}, {7, 2}})
    for (int i = 0; i < 60; ++i)
      for (int j = 1; j <= i; ++j)
        REQUIRE(*counted_distance(*extend(g, w), i, j - 1) >= *counted_distance(*extend(g, w), i, j));
}

TEST_CASE("self_extend: beyond the window one distance takes two neighbouring values; at its edge one if g divides W",
          "[self_extend]") {
  auto const values = [](int g, int w, int d) {
    std::set<double> out;
    for (int i = d; i < d + 5 * g; ++i) out.insert(*counted_distance(*extend(g, w), i, i - d));
    return out;
  };
  CHECK(values(3, 5, 10) == std::set<double>{7, 8});
  CHECK(values(3, 5, 12) == std::set<double>{8});
  CHECK(values(4, 8, 8) == std::set<double>{8});
}

TEST_CASE("self_extend: positions are grouped downwards, fractions and those before 0 too", "[self_extend]") {
  auto const e = extend(4, 8);
  CHECK(e->key_phase(1, 7.75) == 1);
  CHECK(e->key_phase(1, -0.25) == -1);
  CHECK(e->query_phase(1, 8.5) == 2 + 8 - 2);
}

TEST_CASE("self_extend: blocks take one branch exactly where all their pairs do", "[self_extend][blocks]") {
  CHECK(check_blocks(*extend(3, 5), 24) == std::set<int>{0, 1, BranchRule::mixed});
  check_blocks_of_fractions(*extend(3, 5), 24);
}
}  // namespace self_extend_test
