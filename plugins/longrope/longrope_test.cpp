#include "support/plugin.hpp"

#include <sextant/encoding/position.hpp>

using namespace sextant;
using namespace sextant::test;
using encoding::ScalingContext;
using List = std::vector<double>;

namespace {
Options lists(List short_factor, List long_factor) {
  return {{"factor", 4.0}, {"original_length", 64.0}, {"short_factor", short_factor}, {"long_factor", long_factor}};
}
}  // namespace

TEST_CASE("longrope: 63 and 64 tokens take the short list, 65 the long one, whatever is allocated", "[longrope][R20]") {
  for (double most : {256.0, 512.0}) {
    auto const scaling = scaling_of("longrope", lists({1, 1, 1, 1}, {4, 4, 4, 4}));
    auto const at = [&](double length) {
      return scaling->inv_freq(0.5, {.pair = 2, .rotary_dim = 8, .target_length = most, .length = length});
    };
    CHECK(at(63) == 0.5);
    CHECK(at(64) == 0.5);
    CHECK(at(65) == 0.125);
    CHECK(at(0) == 0.5);  // not known
  }
}

TEST_CASE("longrope: every pair has its own divisor", "[longrope][paper]") {
  auto const scaling = scaling_of("longrope", lists({1, 1.5, 2}, {2, 3, 8}));
  for (int pair = 0; pair < 3; ++pair) {
    CHECK(scaling->inv_freq(1, {.pair = pair, .rotary_dim = 6, .length = 10}) == 1 / List{1, 1.5, 2}[pair]);
    CHECK(scaling->inv_freq(1, {.pair = pair, .rotary_dim = 6, .length = 100}) == 1 / List{2, 3, 8}[pair]);
  }
}

TEST_CASE("longrope: the attention factor is sqrt(1 + ln s / ln L) in both regimes", "[longrope][paper]") {
  Options phi{{"factor", 32.0}, {"original_length", 4096.0}, {"short_factor", List{1}}, {"long_factor", List{1}}};
  double const expected = std::sqrt(1 + std::log(32.0) / std::log(4096.0));
  for (double length : {100.0, 5000.0})
    CHECK(scaling_of("longrope", phi)->attention_factor({.length = length}) == Catch::Approx(expected).epsilon(1e-15));
  phi["attention_factor"] = 1.35;
  CHECK(scaling_of("longrope", phi)->attention_factor({}) == 1.35);
  Options none{{"factor", 1.0}, {"original_length", 4096.0}, {"short_factor", List{1}}, {"long_factor", List{1}}};
  CHECK(scaling_of("longrope", none)->attention_factor({}) == 1);
}

TEST_CASE("longrope: lists of another length are refused with the count of pairs", "[longrope]") {
  CHECK_THROWS_WITH(scaling_of("longrope", lists({1, 1}, {1, 1, 1}))->check({.rotary_dim = 6}),
                    "longrope.short_factor has 2 entries, expected 3, one a pair of rotary_dim 6, or one for all");
}
