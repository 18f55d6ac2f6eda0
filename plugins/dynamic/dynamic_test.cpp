#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;
using encoding::ScalingContext;

namespace {
ScalingContext llama(double length, int pair = 0) {
  return {.pair = pair, .rotary_dim = 128, .base = 10000.0, .trained_length = 2048, .length = length};
}
double base_at(encoding::Scaling const& dynamic, double length) { return dynamic.ladder({10000}, llama(length))->base; }
}  // namespace

TEST_CASE("dynamic: the base is a function of the sequence's length", "[dynamic][R13][R05]") {
  auto const dynamic = scaling_of("dynamic", {{"factor", 2.0}});
  CHECK(base_at(*dynamic, 2048) == 10000);
  CHECK(base_at(*dynamic, 2049) == Catch::Approx(10009.9207).epsilon(1e-8));
  CHECK(base_at(*dynamic, 4096) == Catch::Approx(30527.7367).epsilon(1e-8));
  CHECK(base_at(*dynamic, 8192) == Catch::Approx(72195.8601).epsilon(1e-8));
  for (double length : {2049.0, 4096.0, 8192.0})  // the frequencies are those of that base
    for (int pair : {0, 1, 40, 63})
      CHECK(dynamic->inv_freq(std::pow(10000.0, -pair / 64.0), llama(length, pair)) ==
            Catch::Approx(std::pow(base_at(*dynamic, length), -pair / 64.0)).epsilon(1e-13));
}

TEST_CASE("dynamic: within the trained length the base is the trained one, not a power of nothing", "[dynamic][R14]") {
  for (double factor : {1.0, 2.0, 2.3, 8.0}) {
    auto const dynamic = scaling_of("dynamic", {{"factor", factor}});
    for (double length : {0.0, 1.0, 1000.0, 1024.0, 2048.0}) {
      CHECK(base_at(*dynamic, length) == 10000);
      CHECK(dynamic->inv_freq(0.123, llama(length, 63)) == 0.123);
    }
  }
}

TEST_CASE("dynamic: with factor 1 the slowest pair slows by length over trained length", "[dynamic][paper]") {
  CHECK(scaling_of("dynamic")->inv_freq(1e-4, llama(3 * 2048, 63)) == Catch::Approx(1e-4 / 3).epsilon(1e-14));
}

TEST_CASE("dynamic: needs two pairs and a trained length", "[dynamic]") {
  auto const dynamic = scaling_of("dynamic");
  CHECK_THROWS_WITH(dynamic->check({.rotary_dim = 2, .trained_length = 64}),
                    "dynamic needs at least two rotary pairs, found rotary_dim 2");
  CHECK_THROWS_WITH(dynamic->check({.rotary_dim = 8}), Catch::Matchers::ContainsSubstring("needs original_length"));
}
