#include "study.hpp"

#include <sextant/base/philox.hpp>
#include <sextant/claims/planning.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

namespace sextant::planning_test {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using test::claim;
using test::HandMade;
using test::loss_of;

// Differences of exactly `mean`, with standard deviation `sd` over three seeds and none over windows.
HandMade exact(double mean, double sd) {
  HandMade out;
  out.loss = [=](std::string const& arm, std::int64_t, std::size_t seed, std::size_t window) {
    double const hard = 0.1 * static_cast<double>(window);
    return 2 + hard + (arm == "alibi" ? mean + sd * (static_cast<double>(seed) - 1) : 0.0);
  };
  return out;
}

claims::SeedPlan one(claims::Claim const& made, HandMade const& study, double power = 0.8) {
  return claims::plan_seeds({.family_error = 0.05, .list = {made}}, test::hand_made(study), power).at(0);
}

TEST_CASE("planning: seeds for a lead are those of the textbook's paired t-test", "[claims][power]") {
  // A lead of half a standard deviation: 27 pairs, one-sided at 0.05 with power 0.8 (G*Power 3.1).
  auto const plan = one(claim(loss_of("alibi") + " < " + loss_of("rope")), exact(-0.05, 0.1));
  CHECK_THAT(*plan.effect, WithinRel(-0.05, 1e-9));
  CHECK_THAT(plan.spread.seed_sd, WithinRel(0.1, 1e-9));
  CHECK(std::abs(plan.spread.windows_variance) < 1e-20);
  CHECK(plan.seeds == 27);
  // A margin that leaves half a standard deviation is the same question.
  CHECK(one(claim(loss_of("alibi") + " < " + loss_of("rope"), 0.05), exact(-0.1, 0.1)).seeds == 27);
  CHECK(one(claim(loss_of("rope") + " > " + loss_of("alibi"), 0.05), exact(-0.1, 0.1)).seeds == 27);
  CHECK(*one(claim(loss_of("alibi") + " < " + loss_of("rope")), exact(-0.05, 0.1), 0.95).seeds > 27);
}

TEST_CASE("planning: for sides that shall be near, the truth is taken to be no difference", "[claims][power]") {
  auto const at = [](double difference) {
    return one(claim(loss_of("alibi") + " <= " + loss_of("rope"), 0.05), exact(difference, 0.1)).seeds;
  };
  CHECK(at(0.02) == 27);
  CHECK(at(-0.02) == 27);
  // Two one-sided tests need more, and halving the margin about four times as many.
  int const wide = *one(claim(loss_of("alibi") + " == " + loss_of("rope"), 0.1), exact(0, 0.1)).seeds;
  int const narrow = *one(claim(loss_of("alibi") + " == " + loss_of("rope"), 0.05), exact(0, 0.1)).seeds;
  CHECK(wide > 7);
  CHECK(narrow > 3 * wide);
  CHECK(narrow < 5 * wide);
  for (int n : {narrow - 1, narrow}) {
    double const power = statistics::power_within(0, 0.05, 0.1 / std::sqrt(n), n - 1, 0.05);
    CHECK((power >= 0.8) == (n == narrow));
  }
}

TEST_CASE("planning: the level is that of the strictest step of a list", "[claims][power]") {
  claims::Claim const made = claim(loss_of("alibi") + " < " + loss_of("rope"));
  auto const plans =
      claims::plan_seeds({.family_error = 0.05, .list = {made, made}}, test::hand_made(exact(-0.05, 0.1)));
  CHECK(plans[0].level == 0.025);
  CHECK(plans[0].seeds == 34);  // as two-sided at 0.05 (G*Power 3.1)
}

TEST_CASE("planning: as many seeds as it names show the claim about as often as it says", "[claims][simulation]") {
  claims::Claim const made = claim(loss_of("alibi") + " < " + loss_of("rope"), 0, "nat/token", claims::By::paired_t);
  int const seeds = *one(made, exact(-0.2, 0.2)).seeds;
  int held = 0;
  int const studies = 400;
  for (int k = 0; k < studies; ++k) {
    HandMade study;
    study.seeds.resize(static_cast<std::size_t>(seeds));
    for (int s = 0; s < seeds; ++s) study.seeds[static_cast<std::size_t>(s)] = s;
    study.windows = {1};
    study.lengths = {1024};
    study.loss = [k](std::string const& arm, std::int64_t, std::size_t seed, std::size_t) {
      return arm == "rope" ? 2.0 : 1.8 + 0.2 * Stream(9, "planning").normal(seed, static_cast<std::uint64_t>(k));
    };
    held += claims::judge({.list = {made}}, test::hand_made(study)).outcomes[0].verdict == claims::Verdict::holds;
  }
  CHECK(held > 0.75 * studies);
  CHECK(held < 0.9 * studies);
}

TEST_CASE("planning: what no seeds can show, and what a study cannot tell, is said", "[claims]") {
  auto const contrary = one(claim(loss_of("alibi") + " < " + loss_of("rope")), exact(0.05, 0.1));
  CHECK_FALSE(contrary.seeds);
  CHECK_THAT(contrary.reason, ContainsSubstring("nothing beyond the margin"));
  HandMade windy = exact(-0.05, 0.01);
  windy.loss = [of = windy.loss](std::string const& arm, std::int64_t length, std::size_t seed, std::size_t window) {
    return of(arm, length, seed, window) + (arm == "alibi" && window % 2 ? 0.5 : 0.0);
  };
  auto const limited = one(claim(loss_of("alibi") + " == " + loss_of("rope"), 0.02), windy);
  CHECK_FALSE(limited.seeds);
  CHECK_THAT(limited.reason, ContainsSubstring("more windows of text would help"));
  HandMade alone = exact(-0.05, 0.1);
  alone.seeds = {7};
  CHECK_THAT(one(claim(loss_of("alibi") + " < " + loss_of("rope")), alone).reason, ContainsSubstring("one seed (7)"));
  CHECK_THAT(one(claim(loss_of("fox") + " < 1"), exact(0, 1)).reason, ContainsSubstring("has not been measured"));
}
}  // namespace
}  // namespace sextant::planning_test
