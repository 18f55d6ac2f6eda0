#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace yarn_test {
namespace {
/// Frequency over plain frequency for Llama 2's heads: width 128, base 10000, 4096 tokens.
double ratio(encoding::Scaling const& yarn, int pair) {
  return yarn.inv_freq(1, {.pair = pair, .rotary_dim = 128, .base = 10000.0, .trained_length = 4096});
}
}  // namespace

TEST_CASE("yarn: Llama 2 at factor 16 keeps pairs to 20 and interpolates from 46", "[yarn][paper]") {
  auto const yarn = scaling_of("yarn", {{"factor", 16.0}, {"original_length", 4096.0}});
  for (int f : {0, 10, 20}) CHECK(ratio(*yarn, f) == 1);
  for (int f : {46, 50, 63}) CHECK(ratio(*yarn, f) == Catch::Approx(1.0 / 16).epsilon(1e-15));
  CHECK(ratio(*yarn, 33) == Catch::Approx(0.5 / 16 + 0.5).epsilon(1e-14));  // half-way up the ramp
}

TEST_CASE("yarn: the attention factor is 0.1 ln s + 1 unless told otherwise", "[yarn][paper]") {
  Options const plain{{"factor", 16.0}, {"original_length", 4096.0}};
  auto const with = [&](Options more) {
    more.insert(plain.begin(), plain.end());
    return scaling_of("yarn", more)->attention_factor({});
  };
  CHECK(with({}) == Catch::Approx(1.2772588722239782).epsilon(1e-15));
  CHECK(with({{"attention_factor", 1.0}}) == 1);
  CHECK(with({{"mscale", 1.0}, {"mscale_all_dim", 1.0}}) == 1);
  CHECK(with({{"mscale", 0.5}, {"mscale_all_dim", 0.0}}) == Catch::Approx(1 + 0.05 * std::log(16.0)));
  CHECK(scaling_of("yarn", {{"factor", 1.0}, {"original_length", 64.0}})->attention_factor({}) == 1);
}

TEST_CASE("yarn: without rounding the ramp runs between fractions of pairs", "[yarn]") {
  auto const yarn = scaling_of("yarn", {{"factor", 16.0}, {"original_length", 4096.0}, {"truncate", false}});
  CHECK(ratio(*yarn, 20) == 1);
  CHECK(ratio(*yarn, 21) < 1);  // the ramp starts at pair 20.94
  double const before = scaling_of("yarn", {{"factor", 16.0}, {"original_length", 4096.0}})
                            ->inv_freq(1, {.pair = 21, .rotary_dim = 128, .base = 10000.0});
  CHECK(ratio(*yarn, 21) > before);
}

TEST_CASE("yarn: settings that contradict or leave it without a length are refused", "[yarn]") {
  using Catch::Matchers::ContainsSubstring;
  auto const refused = [](Options options, encoding::ScalingContext const& at) {
    options["factor"] = 4.0;
    CHECK_THROWS_AS(scaling_of("yarn", options)->check(at), Error);
    try {
      scaling_of("yarn", options)->check(at);
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  encoding::ScalingContext const fine{.rotary_dim = 64, .base = 1e4, .trained_length = 512};
  CHECK_NOTHROW(scaling_of("yarn", {{"factor", 4.0}})->check(fine));
  CHECK_THAT(refused({}, {.rotary_dim = 64, .base = 1e4}), ContainsSubstring("the trained length is not known"));
  CHECK_THAT(refused({}, {.rotary_dim = 64, .trained_length = 512}), ContainsSubstring("one base"));
  CHECK_THAT(refused({{"mscale", 1.0}}, fine), ContainsSubstring("give both or neither"));
  CHECK_THAT(refused({{"beta_fast", 1.0}, {"beta_slow", 2.0}}, fine), ContainsSubstring("beta_fast is 1"));
}

TEST_CASE("yarn: the temperature is what is given, or 0.1 ln s + 1 once", "[yarn][R11]") {
  auto const factor = [](double s, Options more = {}) {
    more.insert({{"factor", s}, {"original_length", 4096.0}});
    return scaling_of("yarn", more)->attention_factor({});
  };
  CHECK(factor(64) == Catch::Approx(1.4158883).epsilon(1e-7));
  CHECK(factor(64, {{"attention_factor", 1.0}}) == 1);
  CHECK(factor(128, {{"attention_factor", 1.4852030}}) == 1.4852030);
}

TEST_CASE("yarn: bands lie where the original length puts them", "[yarn][R12]") {
  auto const yarn = scaling_of("yarn", {{"factor", 8.0}, {"original_length", 4096.0}});
  auto const at = [&](int pair) {  // the run is trained at 32768 by now
    return yarn->inv_freq(std::pow(10000.0, -pair / 64.0),
                          {.pair = pair, .rotary_dim = 128, .base = 10000.0, .trained_length = 32768});
  };
  CHECK(at(0) == 1);
  CHECK(at(20) == Catch::Approx(0.05623413).epsilon(1e-6));
  CHECK(at(32) == Catch::Approx(0.00596154).epsilon(1e-6));
  CHECK(at(46) == Catch::Approx(1.6669018e-4).epsilon(1e-6));
  CHECK(at(63) == Catch::Approx(1.4434775e-5).epsilon(1e-6));
}
}  // namespace yarn_test
