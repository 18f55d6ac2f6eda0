#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
auto infinite(int sinks, int window, Options more = {}) {
  more["sinks"] = std::int64_t{sinks};
  more["window"] = std::int64_t{window};
  return encoding_of("lm_infinite", more);
}
}  // namespace

TEST_CASE("lm_infinite: the window and the first tokens are seen, no further than the limit", "[lm_infinite][paper]") {
  for (int limit : {0, 3, 6, 11}) {
    auto const e = infinite(2, 6, {{"limit", std::int64_t{limit}}});
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j <= i; ++j) {
        auto const distance = counted_distance(*e, i, j);
        REQUIRE(distance.has_value() == (i - j < 6 || j < 2));
        if (distance) REQUIRE(*distance == std::min(i - j, limit));
      }
  }
}

TEST_CASE("lm_infinite: the limit follows the window unless it is given", "[lm_infinite]") {
  CHECK(*counted_distance(*infinite(2, 6), 30, 1) == 6);
  CHECK(*counted_distance(*infinite(2, 6, {{"limit", std::int64_t{9}}}), 30, 1) == 9);
}

TEST_CASE("lm_infinite: it sees what streaming_sinks sees, and within the window's length both are rope",
          "[lm_infinite]") {
  Options const same{{"sinks", std::int64_t{3}}, {"window", std::int64_t{7}}};
  auto const other = encoding_of("streaming_sinks", same), e = encoding_of("lm_infinite", same);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j <= i; ++j) {
      REQUIRE(counted_distance(*e, i, j).has_value() == counted_distance(*other, i, j).has_value());
      if (i < 7) REQUIRE(*counted_distance(*e, i, j) == i - j);
    }
  CHECK(ladder_of(*e, heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("lm_infinite: blocks take one branch exactly where all their pairs do", "[lm_infinite][blocks]") {
  std::set<int> const all{0, 1, BranchRule::hidden, BranchRule::mixed};
  for (int limit : {3, 6, 11}) {
    auto const e = infinite(2, 6, {{"limit", std::int64_t{limit}}});
    CHECK(check_blocks(*e, 32) == all);
    check_blocks_of_fractions(*e, 32);
  }
}
