#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace local_rope_global_alibi_test {
namespace {
auto hybrid(int window, char const* beyond = "saturate", char const* from = "window") {
  return encoding_of(
      "local_rope_global_alibi",
      {{"window", std::int64_t{window}}, {"beyond", std::string(beyond)}, {"bias_from", std::string(from)}});
}
double bias(encoding::Encoding const& e, int head, int heads, double query, double key) {
  auto const slopes = start_of(e, heads_of(heads));
  return e.bias_at(heads_of(heads), &slopes[head], {head, heads}, query, key, nullptr, nullptr);
}
}  // namespace

TEST_CASE("local_rope_global_alibi: angles turn up to the window, then stay or vanish", "[local_rope_global_alibi]") {
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j <= i; ++j) {
      REQUIRE(*counted_distance(*hybrid(5), i, j) == std::min(i - j, 5));
      REQUIRE(*counted_distance(*hybrid(5, "nope"), i, j) == (i - j < 5 ? i - j : 0));
    }
}

TEST_CASE("local_rope_global_alibi: the penalty grows by ALiBi's slopes from the window on, or from 0",
          "[local_rope_global_alibi]") {
  for (int head = 0; head < 8; ++head)
    for (int d : {0, 1, 4, 5, 6, 30}) {
      double const slope = std::exp2(-(head + 1));
      CHECK(bias(*hybrid(5), head, 8, 50, 50 - d) == -slope * std::max(0, d - 5));
      CHECK(bias(*hybrid(5, "nope", "zero"), head, 8, 50, 50 - d) == -slope * d);
    }
  CHECK(start_of(*hybrid(5), heads_of(6)) == start_of(*encoding_of("alibi"), heads_of(6)));
  CHECK(hybrid(5)->parameters(heads_of(6)).empty());
}

TEST_CASE("local_rope_global_alibi: its angles are rerope's, and past any window it is rope",
          "[local_rope_global_alibi]") {
  auto const e = hybrid(7), far = encoding_of("rerope", {{"window", std::int64_t{7}}}), wide = hybrid(40);
  for (double i = 0; i < 40; i += 0.5)
    for (double j = 0; j <= i; j += 0.5) {
      REQUIRE(*counted_distance(*e, i, j) == *counted_distance(*far, i, j));
      REQUIRE(*counted_distance(*wide, i, j) == i - j);
      REQUIRE(bias(*wide, 0, 1, i, j) == 0);
    }
  CHECK(ladder_of(*e, heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("local_rope_global_alibi: window 0, no angle and a penalty from 0 is alibi", "[local_rope_global_alibi]") {
  auto const e = hybrid(0, "nope", "zero"), alibi = encoding_of("alibi");
  for (int head = 0; head < 3; ++head)
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j <= i; ++j) {
        REQUIRE(*counted_distance(*e, i, j) == 0);
        REQUIRE(bias(*e, head, 3, i, j) == bias(*alibi, head, 3, i, j));
      }
}

TEST_CASE("local_rope_global_alibi: angle and penalty are continuous at the window's edge",
          "[local_rope_global_alibi]") {
  for (double d : {5 - 1e-9, 5.0, 5 + 1e-9}) {
    CHECK(*counted_distance(*hybrid(5), 20, 20 - d) == Catch::Approx(5).margin(1e-8));
    CHECK(bias(*hybrid(5), 0, 1, 20, 20 - d) == Catch::Approx(0).margin(1e-8));
  }
}

TEST_CASE("local_rope_global_alibi: blocks take one branch exactly where all their pairs do",
          "[local_rope_global_alibi][blocks]") {
  CHECK(check_blocks(*hybrid(5), 24) == std::set<int>{0, 1, BranchRule::mixed});
  check_blocks_of_fractions(*hybrid(5, "nope"), 24);
}
}  // namespace local_rope_global_alibi_test
