#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
double kerple(char const* form, double r1, double r2, double query, double key) {
  double const w[] = {r1, r2};
  return encoding_of("kerple", {{"form", std::string(form)}})
      ->bias_at(heads_of(1), w, {0, 1}, query, key, nullptr, nullptr);
}
}  // namespace

TEST_CASE("kerple: the two kernels of the paper, even in the offset", "[kerple][paper]") {
  CHECK(kerple("log", 0.5, 2, 9, 4) == Catch::Approx(-0.5 * std::log(11.0)).epsilon(1e-15));
  CHECK(kerple("log", 0.5, 2, 4, 9) == kerple("log", 0.5, 2, 9, 4));
  CHECK(kerple("power", 0.5, 1.5, 9, 5) == Catch::Approx(-4).epsilon(1e-15));
  CHECK(kerple("power", 0.5, 0.3, 7, 7) == 0);
  CHECK(kerple("log", 0.5, 0.3, 7, 7) == 0);
}

TEST_CASE("kerple: the power kernel with exponent 1 and ALiBi's slopes is alibi", "[kerple][law]") {
  auto const alibi = encoding_of("alibi");
  auto const slopes = start_of(*alibi, heads_of(6));
  for (int h : {0, 1, 4, 5})  // slopes of at least 0.01, where kerple's bound does not act
    for (double d : {0.0, 1.0, 7.0, 512.0})
      CHECK(kerple("power", slopes[h], 1, d, 0) ==
            Catch::Approx(alibi->bias_at(heads_of(6), &slopes[h], {h, 6}, d, 0, nullptr, nullptr)).epsilon(1e-14));
}

TEST_CASE("kerple: numbers out of bounds act as the bound", "[kerple]") {
  CHECK(kerple("log", -3, 2, 9, 4) == kerple("log", 0.01, 2, 9, 4));
  CHECK(kerple("log", 1, 0, 9, 4) == kerple("log", 1, 0.01, 9, 4));
  CHECK(kerple("power", 1, 5, 9, 4) == Catch::Approx(-25).epsilon(1e-14));
}

TEST_CASE("kerple: starts where the paper draws its numbers, inside the bounds", "[kerple][paper]") {
  auto const reaches = [](char const* form, double most1, double most2) {
    auto const start = start_of(*encoding_of("kerple", {{"form", std::string(form)}}), heads_of(64));
    double mean1 = 0, mean2 = 0;
    for (int h = 0; h < 64; ++h) {
      CHECK((start[2 * h] >= 0.01 && start[2 * h] < most1));
      CHECK((start[2 * h + 1] >= 0.01 && start[2 * h + 1] < most2));
      mean1 += start[2 * h] / 64, mean2 += start[2 * h + 1] / 64;
    }
    CHECK(mean1 == Catch::Approx(most1 / 2).epsilon(0.25));
    CHECK(mean2 == Catch::Approx(most2 / 2).epsilon(0.25));
  };
  reaches("log", 2, 1);
  reaches("power", 1, 2);
}
