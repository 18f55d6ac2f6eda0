#include "support/remap.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
auto streaming(int sinks, int window, char const* positions = "cache") {
  return encoding_of(
      "streaming_sinks",
      {{"sinks", std::int64_t{sinks}}, {"window", std::int64_t{window}}, {"rope_positions", std::string(positions)}});
}

/// A cache of sinks + window tokens that drops the oldest token after the sinks when it overflows.
struct RollingCache {
  int sinks, window;
  std::vector<int> tokens = {};
  void append(int token) {
    tokens.push_back(token);
    if (static_cast<int>(tokens.size()) > sinks + window) tokens.erase(tokens.begin() + sinks);
  }
};
}  // namespace

TEST_CASE("streaming_sinks: what is seen, and at which places, is a rolling cache's", "[streaming_sinks][paper][R10]") {
  for (auto const& [sinks, window] : {std::pair{2, 6}, {4, 3}, {0, 5}, {3, 1}}) {
    auto const e = streaming(sinks, window);
    RollingCache cache{sinks, window};
    for (int i = 0; i < 30; ++i) {
      cache.append(i);
      std::vector<bool> seen(i + 1, false);
      int const last = static_cast<int>(cache.tokens.size()) - 1;
      for (int place = 0; place <= last; ++place) {
        auto const distance = counted_distance(*e, i, cache.tokens[place]);
        REQUIRE(distance);
        REQUIRE(*distance == last - place);
        seen[cache.tokens[place]] = true;
      }
      for (int j = 0; j <= i; ++j) REQUIRE(counted_distance(*e, i, j).has_value() == seen[j]);
    }
  }
}

TEST_CASE("streaming_sinks: up to the window's length it is rope", "[streaming_sinks]") {
  for (char const* positions : {"cache", "original"})
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j <= i; ++j) REQUIRE(*counted_distance(*streaming(4, 16, positions), i, j) == i - j);
  CHECK(ladder_of(*streaming(4, 16), heads_of(1, 16)) == ladder_of(*encoding_of("rope"), heads_of(1, 16)));
}

TEST_CASE("streaming_sinks: original positions hide the same pairs and leave distances alone", "[streaming_sinks]") {
  auto const text = streaming(3, 5, "original"), rolling = streaming(3, 5);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j <= i; ++j) {
      auto const distance = counted_distance(*text, i, j);
      REQUIRE(distance.has_value() == counted_distance(*rolling, i, j).has_value());
      if (distance) REQUIRE(*distance == i - j);
    }
  CHECK(text->stages(heads_of(1)).branches == 1);
}

TEST_CASE("streaming_sinks: queries share one set of turned keys", "[streaming_sinks]") {
  CHECK(streaming(3, 5)->key_sets() == 1);
  CHECK(streaming(3, 5)->key_phase(0, 71) == 71);
  CHECK(streaming(3, 5)->query_phase(1, 71) == 7);
}

TEST_CASE("streaming_sinks: blocks take one branch exactly where all their pairs do", "[streaming_sinks][blocks]") {
  CHECK(check_blocks(*streaming(3, 5), 32) == std::set<int>{0, 1, BranchRule::hidden, BranchRule::mixed});
  CHECK(check_blocks(*streaming(3, 5, "original"), 32) == std::set<int>{0, BranchRule::hidden, BranchRule::mixed});
  CHECK(check_blocks(*streaming(0, 5), 32) == std::set<int>{0, 1, BranchRule::hidden, BranchRule::mixed});
  check_blocks_of_fractions(*streaming(3, 5), 32);
  check_blocks_of_fractions(*streaming(3, 5, "original"), 32);
}
