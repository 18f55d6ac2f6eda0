#include "panels.hpp"

#include <sextant/base/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

namespace sextant {
namespace {
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using statistics::Drawn;
using statistics::Evidence;
using statistics::Panel;
using test::difference;

TEST_CASE("paired t over seeds: effect, interval and one-sided tests are those of scipy", "[statistics]") {
  for (auto const& given : test::statistics_data()["panels"]) {
    Panel const panel = test::panel_of(given["a"], given["b"]);
    Evidence const evidence = statistics::student(panel, difference);
    double const margin = given["margin"];
    auto const& t = given["t"];
    CHECK_THAT(evidence.effect, WithinRel(t["effect"].get<double>(), 1e-9));
    CHECK_THAT(evidence.interval(0.95).low, WithinRel(t["low"].get<double>(), 1e-9));
    CHECK_THAT(evidence.interval(0.95).high, WithinRel(t["high"].get<double>(), 1e-9));
    CHECK_THAT(evidence.p_below(-margin), WithinRel(t["less"].get<double>(), 1e-9));
    CHECK_THAT(evidence.p_above(margin), WithinRel(t["greater"].get<double>(), 1e-9));
    double const within = std::max(evidence.p_below(margin), evidence.p_above(-margin));
    CHECK_THAT(within, WithinRel(t["within"].get<double>(), 1e-9));
  }
}

TEST_CASE("bootstrap over seeds and windows: numpy's own draws of the same distribution give the same interval and p",
          "[statistics]") {
  for (auto const& given : test::statistics_data()["panels"]) {
    Panel const panel = test::panel_of(given["a"], given["b"]);
    Evidence const evidence = statistics::bootstrap(panel, difference);
    auto const& expected = given["bootstrap"];
    double const margin = given["margin"], width = expected["high"].get<double>() - expected["low"].get<double>();
    CHECK_THAT(evidence.effect, WithinRel(given["t"]["effect"].get<double>(), 1e-9));
    CHECK_THAT(evidence.interval(0.95).low, WithinAbs(expected["low"].get<double>(), 0.06 * width));
    CHECK_THAT(evidence.interval(0.95).high, WithinAbs(expected["high"].get<double>(), 0.06 * width));
    CHECK_THAT(evidence.p_below(-margin), WithinAbs(expected["less"].get<double>(), 0.015));
    CHECK_THAT(evidence.p_above(margin), WithinAbs(expected["greater"].get<double>(), 0.015));
    // An analysis of variance over crossed seeds and windows (Clark's min F') is another way to the same end; it gains on us
    // where seeds are very few, by trusting degrees of freedom that it must estimate.
    double const half = given["crossed"]["half"];
    CHECK(evidence.interval(0.95).half() > 0.97 * half);
    CHECK(evidence.interval(0.95).half() < 1.6 * half);
  }
}

TEST_CASE("bootstrap: the same panel gives the same bits, and what all windows share does not matter", "[statistics]") {
  auto const& given = test::statistics_data()["panels"][1];
  Panel panel = test::panel_of(given["a"], given["b"]);
  auto const first = statistics::bootstrap(panel, difference), second = statistics::bootstrap(panel, difference);
  CHECK(first.interval(0.9).low == second.interval(0.9).low);
  CHECK(first.p_below(0.01) == second.p_below(0.01));
  for (std::size_t q = 0; q < 2; ++q)
    for (std::size_t s = 0; s < panel.seeds; ++s)
      for (std::size_t w = 0; w < panel.windows; ++w)
        panel.values[(q * panel.seeds + s) * panel.windows + w] += 10.0 * static_cast<double>(w);  // a harder window
  auto const harder = statistics::bootstrap(panel, difference);
  CHECK_THAT(harder.interval(0.9).low, WithinAbs(first.interval(0.9).low, 1e-9));
  CHECK_THAT(harder.interval(0.9).high, WithinAbs(first.interval(0.9).high, 1e-9));
}

TEST_CASE("bootstrap: equal windows leave Student's t over seeds, equal seeds the windows alone", "[statistics]") {
  Panel const seeds_only = test::simulated(4, 10, 0.1, {.seed = 0.05}, 3);
  auto const t = statistics::student(seeds_only, test::itself).interval(0.95);
  auto const both = statistics::bootstrap(seeds_only, test::itself, 20000).interval(0.95);
  CHECK_THAT(both.low, WithinAbs(t.low, 0.03 * (t.high - t.low)));
  CHECK_THAT(both.high, WithinAbs(t.high, 0.03 * (t.high - t.low)));
  Panel const windows_only = test::simulated(4, 40, 0.1, {.window = 0.05}, 3);
  std::vector<double> const windows(windows_only.values.begin(), windows_only.values.begin() + 40);
  auto const over_windows = *statistics::summarize(windows).interval;
  auto const again = statistics::bootstrap(windows_only, test::itself, 20000).interval(0.95);
  CHECK_THAT(again.half(), WithinRel(over_windows.half(), 0.06));
}

TEST_CASE("evidence: an effect may be any function of the means, and one that is no number supports nothing",
          "[statistics]") {
  auto const& given = test::statistics_data()["panels"][0];
  Panel const panel = test::panel_of(given["a"], given["b"]);
  auto const ratio = [](std::span<double const> m) { return m[0] / m[1]; };
  auto const evidence = statistics::bootstrap(panel, ratio);
  double a = 0, b = 0;
  for (std::size_t i = 0; i < panel.values.size(); ++i) (i < panel.values.size() / 2 ? a : b) += panel.values[i];
  CHECK_THAT(evidence.effect, WithinRel(a / b, 1e-12));
  CHECK(evidence.interval(0.95).low < a / b);
  CHECK(evidence.interval(0.95).high > a / b);
  auto const nothing = statistics::bootstrap(panel, [](std::span<double const>) { return std::nan(""); });
  CHECK(nothing.p_below(1e9) == 1);
  CHECK(nothing.p_above(-1e9) == 1);
}

TEST_CASE("evidence: where a share of nothing is asked for under some seed, a t-test shows neither side",
          "[statistics]") {
  Panel const panel{.quantities = 2, .seeds = 2, .windows = 1, .values = {0.5, 0.25, 0.5, 0}};
  for (double const over_zero : {0.0, 0.25}) {
    auto some = panel;
    some.values[1] = over_zero;
    auto const ratio = statistics::student(some, [](std::span<double const> means) { return means[0] / means[1]; });
    CHECK(ratio.p_below(1e9) == 1);
    CHECK(ratio.p_above(-1e9) == 1);
    CHECK(std::isinf(ratio.interval(0.95).high));
  }
}

TEST_CASE("evidence: pairs that never differ decide at once, one seed never does", "[statistics]") {
  Panel const flat{.quantities = 1, .seeds = 3, .windows = 2, .values = std::vector<double>(6, 0.25)};
  auto const t = statistics::student(flat, test::itself);
  CHECK(t.p_below(0.3) == 0);
  CHECK(t.p_below(0.25) == 1);
  CHECK(t.interval(0.95).low == 0.25);
  auto const drawn = statistics::bootstrap(flat, test::itself, 999);
  CHECK(drawn.p_below(0.3) == 0.001);  // the least that 999 replicates can say
  CHECK(drawn.p_above(0.25) == 1);
  Panel const one{.quantities = 1, .seeds = 1, .windows = 4, .values = std::vector<double>(4, 1.0)};
  CHECK_THROWS_AS(statistics::student(one, test::itself), Error);
  CHECK_THROWS_AS(statistics::bootstrap(one, test::itself), Error);
  Panel const narrow{.quantities = 1, .seeds = 4, .windows = 1, .values = std::vector<double>(4, 1.0)};
  CHECK_THROWS_AS(statistics::bootstrap(narrow, test::itself), Error);
}

TEST_CASE("evidence: where the model is given, the test is the paired one over windows", "[statistics]") {
  auto const& given = test::statistics_data()["panels"][0];
  Panel const panel = test::panel_of(given["a"], given["b"]);
  std::vector<double> left(panel.windows), right(panel.windows);
  for (std::size_t s = 0; s < panel.seeds; ++s)
    for (std::size_t w = 0; w < panel.windows; ++w) {
      left[w] += panel.at(0, s, w) / static_cast<double>(panel.seeds);
      right[w] += panel.at(1, s, w) / static_cast<double>(panel.seeds);
    }
  auto const expected = statistics::paired(left, right);
  auto const t = statistics::student(panel, difference, Drawn::windows);
  CHECK_THAT(t.effect, WithinRel(*expected.difference, 1e-9));
  CHECK_THAT(t.interval(0.95).low, WithinRel(expected.interval->low, 1e-8));
  double const likely = std::min(t.p_below(0), t.p_above(0));
  CHECK_THAT(likely, WithinRel(std::max(*expected.p / 2, std::exp2(-static_cast<double>(panel.windows))), 1e-7));
  auto const drawn = statistics::bootstrap(panel, difference, 20000, Drawn::windows).interval(0.95);
  CHECK_THAT(drawn.half(), WithinRel(expected.interval->half(), 0.1));
}

TEST_CASE("evidence: one seed is enough where it is given, and n documents never say more than that all agree",
          "[statistics]") {
  Panel const alike{.quantities = 1, .seeds = 1, .windows = 4, .values = {0.30, 0.31, 0.29, 0.30}};
  for (auto const& evidence : {statistics::student(alike, test::itself, Drawn::windows),
                               statistics::bootstrap(alike, test::itself, 9999, Drawn::windows)}) {
    CHECK(evidence.p_above(0) == 1.0 / 16);
    CHECK(evidence.p_below(0) > 0.99);
  }
  Panel const flat{.quantities = 1, .seeds = 1, .windows = 8, .values = std::vector<double>(8, 0.25)};
  CHECK(statistics::student(flat, test::itself, Drawn::windows).p_above(0) == 1.0 / 256);
  Panel const one{.quantities = 1, .seeds = 1, .windows = 1, .values = {1.0}};
  CHECK_THROWS_AS(statistics::student(one, test::itself, Drawn::windows), Error);
  CHECK_THROWS_AS(statistics::bootstrap(one, test::itself, 99, Drawn::windows), Error);
}

// Share of simulated panels whose interval holds the truth.
double coverage(std::size_t seeds, std::size_t windows, test::Scatter const& scatter, int panels,
                Drawn drawn = Drawn::seeds_and_windows) {
  int hits = 0;
  for (int k = 0; k < panels; ++k) {
    Panel const panel = test::simulated(seeds, windows, 0.3, scatter, static_cast<std::uint64_t>(k));
    hits += statistics::bootstrap(panel, test::itself, 299, drawn).interval(0.95).contains(0.3);
  }
  return static_cast<double>(hits) / panels;
}

TEST_CASE("bootstrap: simulated intervals hold the truth at their level, wherever the noise comes from",
          "[statistics][simulation]") {
  // 300 panels: a level of 0.95 shows as 0.925 to 0.975 in 19 of 20 simulations. Above it is allowed: noise of seed and
  // window together is counted twice.
  double const from = 0.92;
  CHECK(coverage(3, 16, {.seed = 1}, 300) >= from);
  CHECK(coverage(3, 16, {.seed = 1}, 300) <= 0.98);
  CHECK(coverage(3, 16, {.window = 1}, 300) >= from);
  CHECK(coverage(3, 16, {.window = 1}, 300) <= 0.98);
  CHECK(coverage(5, 8, {.seed = 0.3, .window = 1, .rest = 0.5}, 300) >= from);
  CHECK(coverage(3, 16, {.rest = 1}, 300) >= 0.95);
}

TEST_CASE(
    "bootstrap: simulated intervals over eight documents hold the truth at their level, also where a few stand out",
    "[statistics][simulation]") {
  // Over 4000 panels it is 0.933: eight draws of percentiles lose a little of the level. 1000 scatter by 0.008.
  double const covered = coverage(1, 8, {.window = 1}, 1000, Drawn::windows);
  CHECK(covered >= 0.91);
  CHECK(covered <= 0.97);
  // Documents whose effects are skewed (a chi-squared of four, less its mean): what the level then is.
  int hits = 0, panels = 600;
  for (int k = 0; k < panels; ++k) {
    Panel panel{.quantities = 1, .seeds = 1, .windows = 8, .values = std::vector<double>(8)};
    Stream const normal(11, "skewed");
    for (std::size_t w = 0; w < 8; ++w)
      for (std::size_t i = 0; i < 4; ++i)
        panel.values[w] += std::pow(normal.normal(w * 4 + i, static_cast<std::uint64_t>(k)), 2) - 1;
    hits += statistics::bootstrap(panel, test::itself, 299, Drawn::windows).interval(0.95).contains(0);
  }
  CHECK(hits >= 0.87 * panels);
}

// Share of simulated lists in which a claim that sits exactly on its bound is said to hold.
template <class Test>
double false_claims(int lists, int claims, Test test) {
  int wrong = 0;
  for (int k = 0; k < lists; ++k) {
    std::vector<double> p;
    for (int c = 0; c < claims; ++c) {
      Panel panel = test::simulated(3, 8, 0, {.seed = 0.5, .window = 0.3, .rest = 0.3},
                                    static_cast<std::uint64_t>(k * claims + c));
      Panel const shared = test::simulated(3, 8, 0, {.seed = 0.5}, static_cast<std::uint64_t>(100000 + k));
      for (std::size_t i = 0; i < panel.values.size(); ++i)
        panel.values[i] -= shared.values[i];  // one baseline for all
      p.push_back(test(panel).p_below(0));
    }
    bool any = false;
    for (double const adjusted : statistics::holm(p)) any = any || adjusted <= 0.05;
    wrong += any;
  }
  return static_cast<double>(wrong) / lists;
}

TEST_CASE("a list of claims that are all false on the edge: one is said to hold in at most a twentieth of all lists",
          "[statistics][simulation]") {
  // Three standard errors above 0.05 are 0.065 for 2000 lists and 0.087 for 300.
  CHECK(false_claims(2000, 5, [](Panel const& p) { return statistics::student(p, test::itself); }) <= 0.065);
  CHECK(false_claims(300, 3, [](Panel const& p) { return statistics::bootstrap(p, test::itself, 299); }) <= 0.087);
}

TEST_CASE(
    "a list of claims over eight documents that are all false on the edge: one is said to hold in at most a twentieth",
    "[statistics][simulation]") {
  int wrong = 0, lists = 300;
  for (int k = 0; k < lists; ++k) {
    std::vector<double> p;
    auto const draw = static_cast<std::uint64_t>(k);
    Panel const shared = test::simulated(1, 8, 0, {.window = 0.5}, 200000 + draw);
    for (std::uint64_t c = 0; c < 3; ++c) {
      Panel panel = test::simulated(1, 8, 0, {.window = 0.5}, draw * 3 + c);
      for (std::size_t i = 0; i < panel.values.size(); ++i) panel.values[i] -= shared.values[i];
      p.push_back(statistics::bootstrap(panel, test::itself, 499, Drawn::windows).p_below(0));
    }
    bool any = false;
    for (double const adjusted : statistics::holm(p)) any = any || adjusted <= 0.05;
    wrong += any;
  }
  CHECK(wrong <= 0.087 * lists);  // three standard errors above 0.05
  CHECK(wrong > 0);
}

TEST_CASE("resampling three seeds as if they were many would not keep the level, which is why it is not done",
          "[statistics][simulation]") {
  int hits = 0, panels = 400;
  for (int k = 0; k < panels; ++k) {
    Panel const panel = test::simulated(3, 1, 0.3, {.seed = 1}, static_cast<std::uint64_t>(k));
    hits += statistics::bootstrap_interval(panel.values, 0.95, 400, 1).contains(0.3);
  }
  CHECK(hits < 0.85 * panels);
}

TEST_CASE("Holm's correction is that of a loop over ranks", "[statistics]") {
  auto const& given = test::statistics_data()["holm"];
  auto const adjusted = statistics::holm(given["p"].get<std::vector<double>>());
  for (std::size_t i = 0; i < adjusted.size(); ++i)
    CHECK_THAT(adjusted[i], WithinAbs(given["adjusted"][i].get<double>(), 1e-14));
}
}  // namespace
}  // namespace sextant
