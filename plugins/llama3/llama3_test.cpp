#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace llama3_test {
namespace {
std::shared_ptr<encoding::Scaling const> llama(double factor) {
  return scaling_of("llama3", {{"factor", factor}, {"original_length", 8192.0}});
}
double scaled(encoding::Scaling const& scaling, int width, int pair) {
  return scaling.inv_freq(std::pow(500000.0, -2.0 * pair / width), {.pair = pair, .rotary_dim = width});
}
}  // namespace

TEST_CASE("llama3: factor 32 on heads of 64", "[llama3][R19]") {
  auto const scaling = llama(32);
  for (int pair = 0; pair <= 14; ++pair) CHECK(scaled(*scaling, 64, pair) == std::pow(500000.0, -pair / 32.0));
  CHECK(scaled(*scaling, 64, 14) == Catch::Approx(0.003211446).epsilon(1e-6));
  CHECK(scaled(*scaling, 64, 15) == Catch::Approx(0.001290548).epsilon(1e-6));
  CHECK(scaled(*scaling, 64, 16) == Catch::Approx(4.2955680e-4).epsilon(1e-6));
  CHECK(scaled(*scaling, 64, 17) == Catch::Approx(9.7082878e-5).epsilon(1e-6));
  CHECK(scaled(*scaling, 64, 18) == Catch::Approx(1.9461638e-5).epsilon(1e-6));
  CHECK(scaled(*scaling, 64, 31) == Catch::Approx(9.4183067e-8).epsilon(1e-6));
  for (int pair = 18; pair < 32; ++pair)
    CHECK(scaled(*scaling, 64, pair) == Catch::Approx(std::pow(500000.0, -pair / 32.0) / 32).epsilon(1e-14));
}

TEST_CASE("llama3: factor 8 on heads of 128", "[llama3][R19]") {
  auto const scaling = llama(8);
  CHECK(scaled(*scaling, 128, 28) == Catch::Approx(0.003211446).epsilon(1e-6));
  CHECK(scaled(*scaling, 128, 28) == std::pow(500000.0, -28 / 64.0));
  CHECK(scaled(*scaling, 128, 30) == Catch::Approx(0.0013718936).epsilon(1e-6));
  CHECK(scaled(*scaling, 128, 34) == Catch::Approx(1.7850781e-4).epsilon(1e-6));
  CHECK(scaled(*scaling, 128, 35) == Catch::Approx(9.5562124e-5).epsilon(1e-6));
}

TEST_CASE("llama3: a band without width is refused", "[llama3][R19]") {
  for (double high : {1.0, 0.5})
    CHECK_THROWS_WITH(scaling_of("llama3", {{"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", high}})
                          ->check({.rotary_dim = 64, .trained_length = 8192}),
                      Catch::Matchers::ContainsSubstring("expected more than low_freq_factor, 1"));
}
}  // namespace llama3_test
