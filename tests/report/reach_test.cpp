// Effective length and learning speed against numbers worked out by hand.
#include <sextant/base/error.hpp>
#include <sextant/report/learning.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/reach.hpp>

#include <catch2/catch_all.hpp>
#include <report/synthetic.hpp>

#include <cmath>
#include <limits>

using namespace sextant;
using namespace sextant::report;
using Catch::Approx;

namespace reach_test {
namespace {
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// An arm whose loss by length, for two seeds, is given.
void add_arm(StudyView& study, std::string const& name, std::vector<std::int64_t> const& lengths,
             std::vector<std::vector<double>> const& by_seed) {
  for (std::size_t s = 0; s < by_seed.size(); ++s)
    for (std::size_t k = 0; k < lengths.size(); ++k)
      study.rows.push_back({text(name, s), static_cast<std::int64_t>(s), name, "none", "lm_loss", lengths[k], "tail64",
                            "loss", by_seed[s][k], not_a_number, 1, "nat/byte"});
}
RunView trained(std::string const& name, std::int64_t seed, double start, double slope,
                std::string const& lessons = "") {
  RunView run;
  run.id = text(name, seed);
  run.status = "done";
  run.encoding = name;
  run.scaling = "none";
  run.seed = seed;
  run.lessons = lessons;
  for (int step = 1; step <= 400; ++step) {
    run.train.step.push_back(step);
    run.train.loss.push_back(start - slope * step);
  }
  return run;
}
}  // namespace

TEST_CASE("reach: the crossing is linear in the logarithm of the length", "[report][reach]") {
  // from 512 to 1024 the rise goes from 0.01 to 0.03: it is 0.02 halfway, at 512 sqrt(2)
  auto const crossed = reach_of({256, 512, 1024, 2048}, {0, 0.01, 0.03, 0.9}, 0.02);
  CHECK(crossed.length == Approx(512 * std::sqrt(2.0)));
  CHECK_FALSE(crossed.open);
  auto const never = reach_of({256, 512}, {0, -0.3}, 0.02);
  CHECK(never.length == 512);
  CHECK(never.open);
  CHECK(reach_of({256, 512, 1024}, {0, 0.0, not_a_number}, 0.02).length ==
        512);  // a loss that is no number ends it at once
  CHECK(reach_of({256, 512, 1024}, {0, 0.04, 0.0}, 0.02).length == Approx(256 * std::sqrt(2.0)));  // the first crossing
}

TEST_CASE("reach: seeds are averaged as ratios, and what stays within is a lower bound", "[report][reach]") {
  StudyView study;
  study.trained_length = 256;
  std::vector<std::int64_t> const lengths{128, 256, 512, 1024};
  add_arm(study, "breaks", lengths, {{2, 1.5, 1.54, 3}, {2, 1.5, 1.5, 1.54}});  // crosses at 256 sqrt 2 and 512 sqrt 2
  add_arm(study, "holds", lengths, {{2, 1.5, 1.5, 1.5}, {2, 1.5, 1.51, 1.49}});
  auto const reaches = reaches_of(study);
  REQUIRE(reaches.size() == 2);
  CHECK(reaches[0].length == Approx(256 * std::sqrt(2.0) * std::sqrt(2.0)));
  CHECK_FALSE(reaches[0].at_least);
  // two logarithms ln 2 apart: sd ln 2 / sqrt 2, t(1) at 97.5 % is 12.7062
  double const half = 12.7062047364 * std::log(2.0) / 2;
  CHECK(std::log(reaches[0].interval->high / reaches[0].length) == Approx(half).epsilon(1e-6));
  CHECK(reaches[1].length == 1024);
  CHECK(reaches[1].at_least);
  auto const table = reach_table(study);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][1].text == "512");
  CHECK(table.rows[1][1].text == "≥ 1,024");
}

TEST_CASE("reach: without a loss at the trained length and beyond it there is no table", "[report][reach]") {
  StudyView study;
  add_arm(study, "arm", {256, 512}, {{1, 2}});
  CHECK(reach_table(study).rows.empty());  // no trained length is known
  study.trained_length = 512;
  CHECK(reach_table(study).rows.empty());
  study.trained_length = 300;
  CHECK(reach_table(study).rows.empty());
  study.trained_length = 256;
  CHECK(reach_table(study).rows.size() == 1);
}

TEST_CASE("learning: the falling fit pools what rises, as worked out by hand", "[report][learning]") {
  CHECK(falling_fit({5, 3, 4, 1}) == std::vector<double>{5, 3.5, 3.5, 1});
  CHECK(falling_fit({1, 2, 3}) == std::vector<double>{2, 2, 2});
  CHECK(falling_fit({3, 2, 1}) == std::vector<double>{3, 2, 1});
}

TEST_CASE("learning: an arm that falls at half the rate takes twice the steps, and never comes as low",
          "[report][learning]") {
  StudyView study;
  for (int seed : {1, 2}) {
    study.runs.push_back(trained("fast", seed, 5, 0.01));
    study.runs.push_back(trained("slow", seed, 5, 0.005));
    study.runs.push_back(trained("elsewhere", seed, 1, 0.005, "another text"));
  }
  auto const rows = learning_of(study, "fast");
  REQUIRE(rows.size() == 1);  // what learnt from another text is not compared
  CHECK(rows[0].arm.encoding == "slow");
  REQUIRE(rows[0].cells.size() == std::size(learning_shares));
  for (std::size_t k : {0u, 1u}) CHECK(*rows[0].cells[k].ratio == Approx(2).epsilon(0.01));
  CHECK(rows[0].cells[3].never == 2);
  CHECK_FALSE(rows[0].cells[3].ratio);
  CHECK(learning_table(study, "fast").rows[0].back().text == "never");
  CHECK(learning_of(study, "nobody").empty());
}

TEST_CASE("plots: the effective length is drawn as rises, and pairs as differences with their signs",
          "[report][plots]") {
  auto const study = test::synthetic_study();
  Chart const chart = make_plot(study, "effective_context");
  REQUIRE(chart.lines.size() > 2);
  for (auto const& line : chart.lines)
    for (auto const& point : line.points)
      if (point.x == 256 && !line.control) CHECK(point.y == 0);
  Maps const maps = make_maps(study, "pairwise");
  REQUIRE(maps.groups.size() == 1);
  auto const& panel = maps.groups[0].panels.at(0);
  std::size_t const n = panel.row_labels.size();
  REQUIRE(n * n == panel.value.size());
  auto const comparison = compare(study);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < n; ++c) {
      if (r == c) continue;
      double const plain =
          *comparison.rows[r].cells.back().summary.mean - *comparison.rows[c].cells.back().summary.mean;
      CHECK(panel.value[r * n + c] == Approx(plain).margin(1e-9));
    }
}
}  // namespace reach_test
