#include "panels.hpp"

#include <sextant/base/error.hpp>
#include <sextant/statistics/power.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

namespace sextant {
namespace {
using Catch::Matchers::WithinAbs;
using statistics::power_beyond;
using statistics::power_within;
using statistics::Spread;

TEST_CASE("power: both tests agree with scipy's integral over the sample deviation", "[statistics][power]") {
  for (auto const& c : test::statistics_data()["power_beyond"])
    CHECK_THAT(power_beyond(c["excess"], c["error"], c["dof"], c["alpha"]), WithinAbs(c["power"].get<double>(), 1e-6));
  for (auto const& c : test::statistics_data()["power_within"])
    CHECK_THAT(power_within(c["effect"], c["margin"], c["error"], c["dof"], c["alpha"]),
               WithinAbs(c["power"].get<double>(), 1e-6));
}

TEST_CASE("power: values that textbooks and programs print", "[statistics][power][paper]") {
  // Cohen's medium effect d = 0.5, paired, power 0.8: 34 pairs for a two-sided test at 0.05, 27 for a one-sided one
  // (G*Power 3.1). Two-sided at 0.05 is one-sided at 0.025 but for a chance below 1e-4.
  auto const pairs = [](double alpha) {
    return *statistics::seeds_needed({.seed_sd = 1},
                                     [&](double error, double dof) { return power_beyond(0.5, error, dof, alpha); });
  };
  CHECK(pairs(0.025) == 34);
  CHECK(pairs(0.05) == 27);
  // R: power.t.test(power = .90, delta = 1, alternative = "one.sided") prints n = 17.84713 in each of two groups.
  double const n = 17.84713;
  CHECK_THAT(power_beyond(1, std::sqrt(2 / n), 2 * (n - 1), 0.05), WithinAbs(0.9, 1e-5));
  // R, PowerTOST: sampleN.TOST(CV = 0.3) prints n = 40, power 0.815845 (2x2 crossover, ratio 0.95 within 0.80 and 1.25).
  double const error = std::sqrt(2.0 / 40) * std::sqrt(std::log(1 + 0.3 * 0.3));
  CHECK_THAT(power_within(std::log(0.95), std::log(1.25), error, 38, 0.05), WithinAbs(0.815845, 2e-6));
}

TEST_CASE("power: the test that it is about rejects as often as it says", "[statistics][power][simulation]") {
  Spread const spread{.seed_sd = 0.5};
  int const panels = 4000, seeds = 5;
  double beyond = 0, within = 0;
  for (int k = 0; k < panels; ++k) {
    auto const panel = test::simulated(seeds, 1, 0.5, {.seed = 0.5}, static_cast<std::uint64_t>(k));
    auto const evidence = statistics::student(panel, test::itself);
    beyond += evidence.p_above(0) <= 0.05;
    within += std::max(evidence.p_above(0.5 - 0.8), evidence.p_below(0.5 + 0.8)) <= 0.05;  // around the truth
  }
  double const error = spread.error(seeds), dof = spread.dof(seeds);
  CHECK(dof == seeds - 1);
  CHECK_THAT(beyond / panels, WithinAbs(power_beyond(0.5, error, dof, 0.05), 0.025));
  CHECK_THAT(within / panels, WithinAbs(power_within(0, 0.8, error, dof, 0.05), 0.025));
}

TEST_CASE("power: more seeds do not lessen what windows add, and where they cannot help none are named",
          "[statistics][power]") {
  Spread const spread{.seed_sd = 0.02, .windows_variance = 1e-4, .windows = 16};
  CHECK_THAT(spread.error(4), WithinAbs(std::sqrt(1e-4 + 1e-4), 1e-15));
  CHECK_THAT(spread.dof(4), WithinAbs(4e-8 / (1e-8 / 3 + 1e-8 / 15), 1e-9));
  auto const beyond = [](double excess) {
    return [excess](double error, double dof) { return power_beyond(excess, error, dof, 0.05); };
  };
  CHECK_FALSE(statistics::seeds_needed(spread, beyond(0.01)));
  CHECK(statistics::seeds_needed(spread, beyond(0.05)));
  CHECK(*statistics::seeds_needed({}, beyond(0.05)) == 2);  // no noise at all
  CHECK_THROWS_AS(power_beyond(1, 0, 3, 0.05), Error);
  CHECK_THROWS_AS(power_beyond(1, 1, 3, 0.7), Error);
  CHECK_THROWS_AS(power_within(0, 0, 1, 3, 0.05), Error);
}
}  // namespace
}  // namespace sextant
