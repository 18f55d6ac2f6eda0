#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;
using encoding::ScalingContext;

namespace {
ScalingContext at(double length, int pair) {
  return {.pair = pair, .rotary_dim = 128, .base = 10000.0, .trained_length = 4096, .length = length};
}
}  // namespace

TEST_CASE("dynamic_yarn: a sequence of n trained lengths turns as yarn with factor n has it", "[dynamic_yarn][paper]") {
  auto const dynamic = scaling_of("dynamic_yarn");
  for (double reach : {1.5, 4.0, 16.0}) {
    auto const yarn = scaling_of("yarn", {{"factor", reach}, {"original_length", 4096.0}});
    for (int pair : {0, 20, 33, 46, 63})
      CHECK(dynamic->inv_freq(0.7, at(4096 * reach, pair)) == yarn->inv_freq(0.7, at(0, pair)));
    CHECK(dynamic->attention_factor(at(4096 * reach, 0)) == Catch::Approx(1 + 0.1 * std::log(reach)).epsilon(1e-15));
  }
}

TEST_CASE("dynamic_yarn: is plain within the trained length", "[dynamic_yarn][R14]") {
  auto const dynamic = scaling_of("dynamic_yarn");
  for (double length : {0.0, 100.0, 4096.0}) {
    CHECK(dynamic->inv_freq(0.7, at(length, 63)) == 0.7);
    CHECK(dynamic->attention_factor(at(length, 0)) == 1);
  }
  CHECK(scaling_of("dynamic_yarn", {{"attention_factor", 1.25}})->attention_factor(at(9999, 0)) == 1.25);
}
