#include <sextant/base/error.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace sextant;
using namespace sextant::statistics;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("t quantiles are those of the printed tables", "[statistics]") {
  // Two-sided 95 % and 99 % points, as every table of Student's t prints them.
  CHECK_THAT(t_quantile(0.975, 1), WithinAbs(12.706, 5e-4));
  CHECK_THAT(t_quantile(0.975, 2), WithinAbs(4.303, 5e-4));
  CHECK_THAT(t_quantile(0.975, 4), WithinAbs(2.776, 5e-4));
  CHECK_THAT(t_quantile(0.975, 9), WithinAbs(2.262, 5e-4));
  CHECK_THAT(t_quantile(0.995, 2), WithinAbs(9.925, 5e-4));
  CHECK_THAT(t_quantile(0.995, 30), WithinAbs(2.750, 5e-4));
  CHECK_THAT(t_quantile(0.975, 1e7), WithinAbs(1.960, 5e-4));
}

TEST_CASE("with one degree of freedom t is Cauchy's and with two it has a closed form", "[statistics]") {
  for (double const t : {0.1, 1.0, 3.0, 40.0}) {
    CHECK_THAT(t_two_sided_p(t, 1), WithinRel(1 - 2 / M_PI * std::atan(t), 1e-12));
    CHECK_THAT(t_two_sided_p(-t, 2), WithinRel(1 - t / std::sqrt(2 + t * t), 1e-9));
  }
  CHECK(t_two_sided_p(infinity, 2) == 0);
  CHECK(t_two_sided_p(0, 5) == 1);
}

TEST_CASE("mean, deviation and interval of three seeds agree with the sums done by hand", "[statistics]") {
  // 1.0 1.2 1.7: mean 1.3; squares .09 + .01 + .16 = .26; sd sqrt(.13); half 4.302653 * sqrt(.13 / 3)
  std::vector<double> const values{1.0, 1.2, 1.7};
  auto const s = summarize(values);
  CHECK(s.n == 3);
  CHECK_THAT(*s.mean, WithinAbs(1.3, 1e-15));
  CHECK_THAT(*s.sd, WithinRel(std::sqrt(0.13), 1e-14));
  CHECK_THAT(s.interval->half(), WithinRel(4.302652729911275 * std::sqrt(0.13 / 3), 1e-10));
  CHECK_THAT(s.interval->low + s.interval->high, WithinRel(2.6, 1e-14));
}

TEST_CASE("one seed has a mean but neither deviation nor interval", "[statistics]") {
  auto const s = summarize(std::vector<double>{1.5});
  CHECK(*s.mean == 1.5);
  CHECK_FALSE(s.sd);
  CHECK_FALSE(s.interval);
  auto const p = paired(std::vector<double>{1.5}, std::vector<double>{1.0});
  CHECK(*p.difference == 0.5);
  CHECK_FALSE(p.interval);
  CHECK_FALSE(p.p);
  CHECK_FALSE(p.effect);
  CHECK_THROWS_AS(sample_sd(std::vector<double>{1.5}), Error);
  CHECK_THROWS_AS(mean(std::vector<double>{}), Error);
}

TEST_CASE("values that are not finite are counted and take no part", "[statistics]") {
  auto const s = summarize(std::vector<double>{no_number, 2.0, infinity, 4.0});
  CHECK(s.not_finite == 2);
  CHECK(s.n == 2);
  CHECK(*s.mean == 3);
  auto const none = summarize(std::vector<double>{no_number});
  CHECK(none.n == 0);
  CHECK_FALSE(none.mean);
}

TEST_CASE("the paired test agrees with Student's sleep data", "[statistics][paper]") {
  // Student (1908), hours of sleep gained under two drugs by ten patients: t = -4.0621, df 9, p = 0.002833,
  // mean difference -1.58, 95 % interval -2.4598858 to -0.7001142 (also R's t.test(..., paired = TRUE)).
  std::vector<double> const first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  std::vector<double> const second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  auto const p = paired(first, second);
  CHECK(p.n == 10);
  CHECK_THAT(*p.difference, WithinAbs(-1.58, 1e-12));
  CHECK_THAT(p.interval->low, WithinAbs(-2.4598858, 1e-7));
  CHECK_THAT(p.interval->high, WithinAbs(-0.7001142, 1e-7));
  CHECK_THAT(*p.p, WithinAbs(0.002833, 5e-7));
  CHECK_THAT(*p.effect * std::sqrt(10.0), WithinAbs(-4.0621, 5e-5));
}

TEST_CASE("pairs that never differ have p 1 and pairs that always differ alike have p 0", "[statistics]") {
  std::vector<double> const a{1, 2, 3}, up{1.5, 2.5, 3.5};
  auto const equal = paired(a, a);
  CHECK(*equal.p == 1);
  CHECK_FALSE(equal.effect);
  CHECK(equal.interval->low == 0);
  auto const shifted = paired(up, a);
  CHECK(*shifted.p == 0);
  CHECK(*shifted.difference == 0.5);
  CHECK_THROWS_AS(paired(a, std::vector<double>{1, 2}), Error);
}

TEST_CASE("differences that are one amount up to rounding have p at its limit and no effect size", "[statistics]") {
  std::vector<double> const a{0.7, 0.8, 0.9, 1.1}, b{0.6, 0.7, 0.8, 1.0};  // 0.1 apart, and up to 1e-16 off it
  std::vector<double> difference;
  for (std::size_t n = 0; n < a.size(); ++n) difference.push_back(a[n] - b[n]);
  REQUIRE(sample_sd(difference) > 0);
  auto const apart = paired(a, b);
  CHECK(*apart.p == 0);
  CHECK_FALSE(apart.effect);
  CHECK_THAT(*apart.difference, WithinAbs(0.1, 1e-15));

  std::vector<double> beside;  // the next number up or down
  for (std::size_t n = 0; n < a.size(); ++n) beside.push_back(std::nextafter(a[n], n % 2 ? 2.0 : -2.0));
  auto const equal = paired(a, beside);
  CHECK(*equal.p == 1);
  CHECK_FALSE(equal.effect);

  std::vector<double> scattered = a;
  scattered[0] += 1e-14;  // 20 eps of the largest
  CHECK(paired(scattered, b).effect);
  CHECK(paired(std::vector<double>{1e-30, 3e-30}, std::vector<double>{0, 1e-30}).effect);  // small is not rounding
}

TEST_CASE("a pair is left out when either side is not finite", "[statistics]") {
  auto const p = paired(std::vector<double>{1, no_number, 3, 5}, std::vector<double>{0, 1, infinity, 3});
  CHECK(p.n == 2);
  CHECK(*p.difference == 1.5);
}

TEST_CASE("the bootstrap repeats bit for bit and follows its seed", "[statistics]") {
  std::vector<double> const values{1.1, 1.9, 0.4, 2.2, 1.4, 1.3};
  auto const once = bootstrap_interval(values, 0.95, 500, 7), again = bootstrap_interval(values, 0.95, 500, 7);
  CHECK(once.low == again.low);
  CHECK(once.high == again.high);
  CHECK(bootstrap_interval(values, 0.95, 500, 8).low != once.low);
}

TEST_CASE("bootstrap ends match the exact distribution of resampled means of two values", "[statistics]") {
  // Means of two draws from {0, 1} are 0, 1/2, 1 with chances 1/4, 1/2, 1/4: the 10 % and 90 % points are 0 and 1, the
  // 30 % and 70 % points both 1/2.
  std::vector<double> const values{0, 1};
  auto const wide = bootstrap_interval(values, 0.8, 4000, 1), tight = bootstrap_interval(values, 0.4, 4000, 1);
  CHECK(wide.low == 0);
  CHECK(wide.high == 1);
  CHECK(tight.low == 0.5);
  CHECK(tight.high == 0.5);
}

TEST_CASE("bootstrap and t intervals agree for many values of one shape", "[statistics]") {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(std::sin(0.7 * i) + 0.001 * i);
  auto const t = *summarize(values).interval;
  auto const b = *summarize(values, 0.95, Method::bootstrap).interval;
  CHECK_THAT(b.low, WithinAbs(t.low, 0.1 * t.half()));
  CHECK_THAT(b.high, WithinAbs(t.high, 0.1 * t.half()));
}

TEST_CASE("Holm's adjustment is the one worked through by hand", "[statistics]") {
  // sorted .005 .01 .03 .04 times 4 3 2 1 = .02 .03 .06 .04, then never falling: .02 .03 .06 .06
  auto const adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  CHECK_THAT(adjusted[0], WithinAbs(0.03, 1e-15));
  CHECK_THAT(adjusted[1], WithinAbs(0.06, 1e-15));
  CHECK_THAT(adjusted[2], WithinAbs(0.06, 1e-15));
  CHECK_THAT(adjusted[3], WithinAbs(0.02, 1e-15));
  CHECK(holm(std::vector<double>{0.6, 0.9}) == std::vector<double>{1.0, 1.0});
  CHECK(holm(std::vector<double>{}).empty());
  CHECK_THROWS_AS(holm(std::vector<double>{no_number}), Error);
}
