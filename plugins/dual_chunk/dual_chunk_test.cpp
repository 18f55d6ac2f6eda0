#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
auto chunks(int chunk, int local, char const* cap = "paper") {
  return encoding_of("dual_chunk",
                     {{"chunk", std::int64_t{chunk}}, {"local", std::int64_t{local}}, {"cap_mode", std::string(cap)}});
}
/// The definition in whole numbers.
int distance(int i, int j, int s, int cap) {
  int const back = i / s - j / s, place = i % s;
  return (back == 0 ? place : back == 1 ? std::min(place + s, cap) : cap) - j % s;
}
}  // namespace

TEST_CASE("dual_chunk: queries count from their chunk, the one before, or the cap", "[dual_chunk][paper]") {
  for (auto const& [s, w] : {std::pair{6, 2}, {6, 0}, {5, 5}, {1, 1}})
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j <= i; ++j) {
        REQUIRE(*counted_distance(*chunks(s, w), i, j) == distance(i, j, s, s + w - 1));
        REQUIRE(*counted_distance(*chunks(s, w, "code"), i, j) == distance(i, j, s, s + w));
      }
}

TEST_CASE("dual_chunk: a text of one chunk is rope", "[dual_chunk]") {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j <= i; ++j) REQUIRE(*counted_distance(*chunks(16, 4), i, j) == i - j);
  CHECK(ladder_of(*chunks(6, 2), heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("dual_chunk: distances up to the local window are exact across the edge of a chunk", "[dual_chunk]") {
  for (char const* cap : {"paper", "code"})
    for (int i = 0; i < 60; ++i)
      for (int j = std::max(0, i - 4); j <= i; ++j) REQUIRE(*counted_distance(*chunks(10, 4, cap), i, j) == i - j);
  CHECK(*counted_distance(*chunks(10, 4), 15, 9) == 4);  // 6 apart, cut by the cap of 13
}

TEST_CASE("dual_chunk: a shift by a chunk changes nothing, a shift by one token does", "[dual_chunk]") {
  auto const e = chunks(6, 2);
  bool moved = false;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j <= i; ++j) {
      REQUIRE(*counted_distance(*e, i + 6, j + 6) == *counted_distance(*e, i, j));
      moved |= *counted_distance(*e, i + 1, j + 1) != *counted_distance(*e, i, j);
    }
  CHECK(moved);
}

TEST_CASE("dual_chunk: no distance exceeds the cap, and one turned key serves all three queries", "[dual_chunk]") {
  auto const e = chunks(6, 2);
  CHECK(e->key_sets() == 1);
  CHECK(e->stages(heads_of(1)).branches == 3);
  double most = 0;
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j <= i; ++j) most = std::max(most, *counted_distance(*e, i, j));
  CHECK(most == 7);
}

TEST_CASE("dual_chunk: blocks take one branch exactly where all their pairs do", "[dual_chunk][blocks]") {
  CHECK(check_blocks(*chunks(5, 2), 24) == std::set<int>{0, 1, 2, BranchRule::mixed});
  CHECK(check_blocks(*chunks(1, 1), 12) == std::set<int>{0, 1, 2, BranchRule::mixed});
  check_blocks_of_fractions(*chunks(5, 2), 24);
  check_blocks_of_fractions(*chunks(7, 7), 200);
}

TEST_CASE("dual_chunk: a local window wider than a chunk is refused", "[dual_chunk]") {
  CHECK(refusal_of(*chunks(6, 7), heads_of(1)) == "dual_chunk.local is 7, expected at most the chunk, 6");
}
