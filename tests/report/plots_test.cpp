#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/compare.hpp>
#include <sextant/report/plots.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <set>

using namespace sextant;
using namespace sextant::report;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {
bool overlap(Box const& a, Box const& b) {
  double const slack = 1e-6;
  return a.x < b.x + b.width - slack && b.x < a.x + a.width - slack && a.y < b.y + b.height - slack &&
         b.y < a.y + a.height - slack;
}

StudyView many_arms(int count) {
  test::SyntheticOptions options;
  options.encodings.clear();
  options.seeds = {1, 2};
  options.lengths = {128, 256, 512};
  for (int i = 0; i < count; ++i) options.encodings.push_back(text("made_up_encoding_", i));
  return test::synthetic_study(options);
}

void check_layout(Chart const& chart) {
  for (Layout const layout : {Layout::wide, Layout::narrow}) {
    auto const geometry = geometry_of(chart, layout);
    for (std::size_t i = 0; i < geometry.labels.size(); ++i) {
      auto const& label = geometry.labels[i];
      CHECK_FALSE(overlap(label, geometry.plot));
      CHECK(label.x >= 0);
      CHECK(label.x + label.width <= geometry.width);
      CHECK(label.y >= 0);
      CHECK(label.y + label.height <= geometry.height);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(label, geometry.labels[j]));
    }
  }
}
}  // namespace

TEST_CASE("every plot is well-formed SVG with a title, a description and a role", "[report][plot]") {
  auto study = test::synthetic_study();
  study.search = {{"rope", "linear", {3, 2.5, 2.5}, {1, 1.5, 4}, "nat/token", "loss"},
                  {"rope", "yarn", {3, 2.75, 2.25}, {1, 2, 4}, "nat/token", "loss"}};
  auto row = study.rows.front();
  for (std::string const metric : {"exact", "distance95", "entropy", "spread"}) {
    row.probe = row.metric = metric, row.value = 0.5;
    study.rows.push_back(row);
  }
  for (auto const& plot : plots()) {
    INFO(plot.name);
    auto const svg = plot_svg(study, plot.name);
    auto const markup = test::parse_markup(svg, false);
    CHECK(markup.faults == std::vector<std::string>{});
    REQUIRE(markup.named("svg").size() == 1);
    auto const root = markup.named("svg").at(0);
    CHECK(root.attributes.at("role") == "img");
    CHECK_FALSE(markup.named("desc").at(0).text.empty());
    CHECK_THAT(root.attributes.at("aria-labelledby"),
               ContainsSubstring(markup.named("title").at(0).attributes.at("id")));
    CHECK_THAT(svg, !ContainsSubstring("nan") && !ContainsSubstring("inf,"));
    CHECK_THAT(svg, ContainsSubstring("prefers-color-scheme: dark"));
    CHECK(markup.named("image").empty());
  }
}

TEST_CASE("every arm has a line, a band and a label in the extrapolation plot", "[report][plot]") {
  auto const study = test::synthetic_study();
  auto const markup = test::parse_markup(plot_svg(study, "extrapolation"), false);
  std::set<std::string> lines, labels;
  for (auto const& line : markup.with_class("sx-line")) lines.insert(line.attributes.at("data-label"));
  std::string label_text;
  for (auto const& label : markup.with_class("sx-label")) label_text += label.text + "\n";
  CHECK(lines.size() == 9);
  CHECK(markup.with_class("sx-band").size() == 9);
  for (auto const& arm : arms_of(study)) {
    CHECK(lines.contains(arm.label()));
    CHECK_THAT(label_text, ContainsSubstring(arm.label()));
  }
  CHECK(markup.with_class("sx-trained").size() == 1);
}

TEST_CASE("points of the extrapolation plot are the numbers of the table", "[report][plot]") {
  auto const study = test::synthetic_study();
  auto const chart = make_plot(study, "extrapolation");
  auto const comparison = compare(study);
  REQUIRE(chart.lines.size() == comparison.rows.size());
  for (std::size_t r = 0; r < chart.lines.size(); ++r)
    for (std::size_t i = 0; i < chart.lines[r].points.size(); ++i) {
      auto const& point = chart.lines[r].points[i];
      auto const& summary = comparison.rows[r].cells[i].summary;
      CHECK(point.y == *summary.mean);
      CHECK(point.low == summary.interval->low);
      CHECK(point.high == summary.interval->high);
    }
}

TEST_CASE("a drawn point lies where its axis says", "[report][plot]") {
  Chart chart;
  chart.id = "one";
  chart.x = log2_axis(128, 2048, 12, "length");
  chart.y = linear_axis(1, 3, 4, "loss");
  chart.lines = {{"rope", {}, {{128, 1.0, 0, 0, 1}, {512, 2.0, 0, 0, 1}, {2048, 3.0, 0, 0, 1}}, true, false}};
  auto const markup = test::parse_markup(svg_inline(chart, Layout::wide), false);
  auto const d = markup.with_class("sx-stroke").at(0).attributes.at("d");
  double x[3], y[3];
  REQUIRE(std::sscanf(d.c_str(), "M%lf,%lfL%lf,%lfL%lf,%lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]) == 6);
  CHECK_THAT(x[1], WithinAbs(0.5 * (x[0] + x[2]), 0.011));  // 512 is the geometric middle of 128 and 2048
  CHECK_THAT(y[1], WithinAbs(0.5 * (y[0] + y[2]), 0.011));
  CHECK(y[0] > y[2]);
}

TEST_CASE("window controls are dotted lines without a label of their own", "[report][plot]") {
  test::SyntheticOptions options;
  options.control = true;
  auto const chart = make_plot(test::synthetic_study(options), "extrapolation");
  CHECK(chart.lines.size() == 18);
  CHECK(geometry_of(chart, Layout::wide).labels.size() == 9);
  auto const markup = test::parse_markup(svg_file(chart), false);
  CHECK(markup.with_class("sx-control").size() == 9);
  CHECK_FALSE(chart.control_label.empty());
}

TEST_CASE("learning curves average bins of steps within a seed and then over seeds", "[report][plot]") {
  StudyView study;
  for (int seed = 1; seed <= 2; ++seed) {
    RunView run;
    run.encoding = "rope";
    run.scaling = "none";
    run.seed = seed;
    for (int step = 1; step <= 160; ++step) {
      run.train.step.push_back(step);
      run.train.loss.push_back(seed == 1 ? 2.0 : 4.0 + (step % 2));  // 160 steps: bins of two, 4.5 each
    }
    study.runs.push_back(run);
  }
  auto const chart = make_plot(study, "learning_curves");
  REQUIRE(chart.lines.size() == 1);
  REQUIRE(chart.lines[0].points.size() == 80);
  for (auto const& point : chart.lines[0].points) CHECK_THAT(point.y, WithinRel(3.25, 1e-12));
  CHECK_THAT(chart.lines[0].points[0].x, WithinAbs(1.5, 1e-12));  // the middle of steps 1 and 2
  // values 2 and 4.5: sd 2.5 / sqrt 2, half 12.706 sd / sqrt 2
  CHECK_THAT(chart.lines[0].points[0].high - 3.25, WithinRel(12.7062047 * 1.25, 1e-6));
}

TEST_CASE("loss by position takes the longest window and averages its bins", "[report][plot]") {
  StudyView study;
  RunView run;
  run.encoding = "rope";
  run.scaling = "none";
  run.positions = {{"lm_loss", 64, std::vector<double>(64, 9.0), "nat/byte"}, {"lm_loss", 128, {}, "nat/byte"}};
  for (int i = 0; i < 128; ++i) run.positions[1].loss.push_back(i);
  study.runs = {run};
  study.trained_length = 32;
  auto const chart = make_plot(study, "per_position");
  REQUIRE(chart.lines[0].points.size() == 64);
  CHECK(chart.lines[0].points[3].y == 6.5);  // positions 6 and 7
  CHECK(chart.lines[0].points[3].x == 7);    // the middle of [6, 8)
  CHECK(std::isnan(chart.lines[0].points[3].low));
  CHECK(chart.trained->x == 32);

  study.runs.push_back(run);
  study.runs[1].seed = 5;
  for (double& loss : study.runs[1].positions[1].loss) loss += 2;
  auto const both = make_plot(study, "per_position").lines[0].points[3];  // 6.5 and 8.5
  CHECK(both.y == 7.5);
  CHECK(both.n == 2);
  CHECK_THAT(both.high - both.y, WithinRel(12.7062047, 1e-6));  // sd sqrt 2, over sqrt 2
}

TEST_CASE("values that are not finite break the line and are counted in a note", "[report][plot]") {
  auto study = test::synthetic_study();
  for (auto& row : study.rows)
    if (row.encoding == "alibi" && row.length == 512) row.value = std::numeric_limits<double>::infinity();
  auto const chart = make_plot(study, "extrapolation");
  CHECK(test::parse_markup(svg_file(chart), false).faults.empty());
  std::string notes;
  for (auto const& note : chart.notes) notes += note;
  CHECK_THAT(notes, ContainsSubstring("alibi: 3 values are not finite"));
}

TEST_CASE("labels overlap neither one another nor the plot, for 9, 30 and very long ones", "[report][plot]") {
  check_layout(make_plot(test::synthetic_study(), "extrapolation"));
  check_layout(make_plot(many_arms(30), "extrapolation"));
  test::SyntheticOptions options;
  options.encodings.clear();
  for (char const* const end : {"x", "y", "很长的名字"}) options.encodings.push_back(text(std::string(300, 'w'), end));
  check_layout(make_plot(test::synthetic_study(options), "extrapolation"));
}

TEST_CASE("spread moves labels no further than needed", "[report][plot]") {
  CHECK(spread({10, 50}, 15, 0, 100) == std::vector<double>{10, 50});
  CHECK(spread({50, 50}, 10, 0, 100) == std::vector<double>{45, 55});
  CHECK(spread({60, 50, 55}, 10, 0, 100) == std::vector<double>{65, 45, 55});
  CHECK(spread({0, 0, 0}, 10, 0, 100) == std::vector<double>{0, 10, 20});
  CHECK(spread({100, 100}, 10, 0, 100) == std::vector<double>{90, 100});
  CHECK_THROWS_AS(spread({1, 2, 3}, 60, 0, 100), Error);
}

TEST_CASE("an encoding looks the same in every plot, alone or among others", "[report][plot]") {
  auto const study = test::synthetic_study();
  Looks const few({{"rope", "none"}, {"alibi", "none"}}), all(arms_of(study));
  CHECK(few.of({"rope", "none"}) == all.of({"rope", "none"}));
  CHECK(few.of({"alibi", "none"}) == look_of(Arm{"alibi", "none"}));
  CHECK(look_of(Arm{"my_encoding", "none"}) == look_of(Arm{"my_encoding", "none"}));
  CHECK(look_of(Arm{"Rope + ALiBi", "none"}) == look_of(Arm{"rope+alibi", "none"}));
  for (auto const& name : {"learning_curves", "extrapolation", "per_position"})
    for (auto const& line : make_plot(study, name).lines)
      if (line.label == "rope") CHECK(line.look == look_of(Arm{"rope", "none"}));
}

TEST_CASE("a scaled arm keeps its encoding's colour and differs in dash and marker", "[report][plot]") {
  auto const plain = look_of(Arm{"rope", "none"}), yarn = look_of(Arm{"rope", "yarn"}),
             ntk = look_of(Arm{"rope", "ntk x4"});
  CHECK(yarn.ink == plain.ink);
  CHECK(ntk.ink == plain.ink);
  CHECK_FALSE(yarn == plain);
  CHECK_FALSE(yarn.dash == ntk.dash);
}

TEST_CASE("thirty scalings of one encoding keep its colour and still look different", "[report][plot]") {
  std::vector<Arm> arms{{"rope", "none"}};
  for (int i = 0; i < 30; ++i) arms.push_back({"rope", text("scaling_", i)});
  Looks const looks(arms);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    CHECK(looks.of(arms[i]).ink == look_of(Arm{"rope", "none"}).ink);
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(looks.of(arms[i]) == looks.of(arms[j]));
  }
}

TEST_CASE("a reader without CSS sees the palette's colours, one without attributes its classes", "[report][plot]") {
  auto const markup = test::parse_markup(plot_svg(test::synthetic_study(), "extrapolation"), false);
  std::size_t seen = 0;
  for (auto const& element : markup.elements)
    for (std::size_t i = 0; i < inks.size(); ++i) {
      if (!element.has_class(text("sx-i", i))) continue;
      CHECK(element.attributes.at("color") == inks[i].light);
      ++seen;
    }
  CHECK(seen == 3 * 9);  // band, line and label of every arm
}

TEST_CASE("no two of many arms look alike", "[report][plot]") {
  auto const study = many_arms(200);
  Looks const looks(arms_of(study));
  auto const arms = arms_of(study);
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(looks.of(arms[i]) == looks.of(arms[j]));
}

TEST_CASE("colours are pairwise apart and stand out from their page", "[report][plot]") {
  auto const channel = [](char const* hex, int at) { return std::stoi(std::string(hex + at, 2), nullptr, 16) / 255.0; };
  auto const linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  auto const luminance = [&](char const* hex) {
    return 0.2126 * linear(channel(hex, 1)) + 0.7152 * linear(channel(hex, 3)) + 0.0722 * linear(channel(hex, 5));
  };
  auto const contrast = [&](char const* a, char const* b) {
    double const x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
  };
  for (std::size_t i = 0; i < inks.size(); ++i) {
    INFO(inks[i].name);
    CHECK(contrast(inks[i].light, "#ffffff") >= 3);  // WCAG 2.1, graphics
    CHECK(contrast(inks[i].dark, "#14181d") >= 4.5);
    for (std::size_t j = 0; j < i; ++j) CHECK(std::string(inks[i].light) != inks[j].light);
  }
}

TEST_CASE("axes have the ticks that people expect", "[report][plot]") {
  auto const labels = [](Axis const& axis) {
    std::vector<std::string> out;
    for (auto const& tick : axis.ticks) out.push_back(tick.label);
    return out;
  };
  CHECK(labels(log2_axis(128, 2048, 12, "")) == std::vector<std::string>{"128", "256", "512", "1,024", "2,048"});
  CHECK(labels(log2_axis(1, 4096, 5, "")).size() <= 5);
  CHECK(labels(linear_axis(1.1, 2.9, 4, "")) == std::vector<std::string>{"1", "1.5", "2", "2.5", "3"});
  CHECK(labels(log10_axis(1, 100, 10, "")) == std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"});
  CHECK(labels(log10_axis(1e-4, 1, 10, "")).size() == 5);
  auto const flat = linear_axis(2, 2, 4, "");
  CHECK(flat.low < 2);
  CHECK(flat.high > 2);
  CHECK(flat.ticks.size() >= 2);
  CHECK_THROWS_AS(log2_axis(0, 4, 4, ""), Error);
  CHECK_THROWS_AS(linear_axis(0, std::numeric_limits<double>::infinity(), 4, ""), Error);
}

TEST_CASE("a plot that does not exist or has no data is refused by name", "[report][plot]") {
  CHECK_THROWS_WITH(make_plot(test::synthetic_study(), "extrapolaton"),
                    ContainsSubstring("did you mean extrapolation?"));
  StudyView empty;
  empty.file = "empty.h5";
  for (auto const& plot : plots()) CHECK_THROWS_WITH(make_plot(empty, plot.name), ContainsSubstring("empty.h5"));
  CHECK_THAT(plot_list(&empty), ContainsSubstring("no data in this file"));
  CHECK_THAT(plot_list(), ContainsSubstring("per_position\t"));
}
