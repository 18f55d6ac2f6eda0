#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/compare.hpp>
#include <sextant/report/maps_layout.hpp>
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
constexpr double none = std::numeric_limits<double>::quiet_NaN();

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
  for (std::string const metric : {"exact", "distance95", "entropy", "spread", "repeat8"}) {
    row.probe = row.metric = metric, row.value = 0.5;
    study.rows.push_back(row);
  }
  study.runs.front().depths = {{"passkey", "exact", "1", {256, 512}, {0.25, 0.75}, {1, 0.5, 0.25, none}},
                               {"passkey", "gain", "nat/token", {256, 512}, {0.25, 0.75}, {1, 0.5, -0.25, 0}}};
  study.runs.front().heads = {{"attention", "entropy", "nat", {256}, 2, 2, {1, 2, 3, none}},
                              {"attention", "distance95", "token", {256}, 2, 2, {1, 20, 30, 200}}};
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

TEST_CASE("repetition has a line an arm, and one dotted line for the text, which is that of all arms",
          "[report][plot]") {
  auto study = test::synthetic_study();
  auto const losses = study.rows;
  auto const arms = arms_of(study).size();
  study.rows.clear();
  auto const add = [&](std::string const& metric, double value) {
    for (auto row : losses) {
      row.probe = "repetition", row.region = "mean", row.metric = metric, row.units = "1", row.value = value;
      study.rows.push_back(row);
    }
  };
  add("repeat8_sampled", 0.05);
  add("repeat8", 0.75);
  auto const alone = make_plot(study, "repetition_by_length");
  CHECK(alone.lines.size() == arms);
  CHECK(alone.control_label.empty());
  add("repeat8_text", 0.125);
  auto const chart = make_plot(study, "repetition_by_length");
  REQUIRE(chart.lines.size() == arms + 1);
  for (auto const& line : chart.lines)
    for (auto const& point : line.points) CHECK(point.y == (line.control ? 0.125 : 0.75));
  CHECK(chart.lines.back().control);
  CHECK(chart.lines.back().label == "the text itself");
  CHECK_THAT(chart.caption, ContainsSubstring("Dotted: the text's own share"));
  CHECK(chart.y.low == 0);
  CHECK(chart.y.high == 1);
  CHECK(std::string(inks[grey].name) == "grey");
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

TEST_CASE("a study that stays within the trained length has no mark beyond its plot, and no word of one",
          "[report][plot]") {
  auto study = test::synthetic_study();
  CHECK_THAT(make_plot(study, "extrapolation").caption, ContainsSubstring("Right of the dashed line"));
  study.trained_length = 8192;
  auto const chart = make_plot(study, "extrapolation");
  CHECK_FALSE(chart.trained.has_value());
  CHECK_THAT(chart.caption, !ContainsSubstring("Right of the dashed line"));
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

namespace {
// A run an arm and seed, with attention of every head: value = seed + 100 layer + head, more by `scale` at longer texts.
StudyView with_heads(std::vector<std::string> const& encodings, std::size_t layers, std::size_t heads) {
  StudyView study;
  study.trained_length = 256;
  for (auto const& encoding : encodings)
    for (int seed : {11, 23}) {
      RunView run;
      run.encoding = encoding, run.scaling = "none", run.seed = seed;
      for (std::string const measure : {"entropy", "spread", "distance50", "distance90", "distance95"}) {
        HeadGrid grid{"attention", measure, "1", {256, 1024}, layers, heads, {}};
        for (std::size_t length = 0; length < 2; ++length)
          for (std::size_t layer = 0; layer < layers; ++layer)
            for (std::size_t head = 0; head < heads; ++head)
              grid.value.push_back(seed + 100.0 * static_cast<double>(layer) + static_cast<double>(head) +
                                   1000.0 * static_cast<double>(length));
        run.heads.push_back(grid);
      }
      study.runs.push_back(run);
    }
  return study;
}

Box whole(PlacedPanel const& panel) {  // with its title and labels
  return {panel.cells.x, panel.title - 12, panel.cells.width,
          panel.cells.y + panel.cells.height + 32 - panel.title + 12};
}

void check_layout(Maps const& maps) {
  for (Layout const layout : {Layout::wide, Layout::narrow}) {
    auto const placed = place(maps, layout, 0, 4);
    for (std::size_t i = 0; i < placed.panels.size(); ++i) {
      auto const& cells = placed.panels[i].cells;
      CHECK(cells.x >= 0);
      CHECK(cells.x + cells.width <= placed.width + 1e-9);
      CHECK(whole(placed.panels[i]).y + whole(placed.panels[i]).height <= placed.height);
      CHECK(placed.panels[i].cell_width >= 3);
      CHECK(placed.panels[i].cell_height >= 5);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(whole(placed.panels[i]), whole(placed.panels[j])));
      for (auto const& label : placed.labels) CHECK_FALSE(overlap(whole(placed.panels[i]), label.box));
    }
  }
}
}  // namespace

TEST_CASE("attention by head shows the heads of one seed at the longest length, and quantiles over all",
          "[report][plot][maps]") {
  auto const maps = make_maps(with_heads({"rope", "alibi"}, 3, 2), "attention_by_head");
  REQUIRE(maps.groups.size() == 2);
  auto const& panels = maps.groups[0].panels;
  REQUIRE(panels.size() == 4);
  CHECK(panels[0].title == "entropy [nat]");
  CHECK(panels[0].value == std::vector<double>{1011, 1111, 1211, 1012, 1112, 1212});  // a row a head, layers across
  CHECK(panels[0].row_labels.size() == 2);
  CHECK(panels[0].column_labels.size() == 3);
  CHECK(panels[2].title == "reach of 95 % [token]");
  CHECK(panels[3].row_labels == std::vector<std::string>{"50 %", "90 %", "95 %"});
  CHECK(panels[3].column_labels == std::vector<std::string>{"256", "1,024"});
  CHECK_THAT(panels[3].value[0], WithinRel(17.0 + 100 + 0.5, 1e-12));  // seeds 11 and 23, layers 0 to 2, heads 0 and 1
  CHECK(panels[3].words[0] == "118");
  CHECK(panels[3].words[1] == "1.1k");
  CHECK(panels[3].mark == 1);
  CHECK_THAT(maps.caption, ContainsSubstring("is a head of seed 11 at 1,024 tokens; heads of other seeds do not"));
  auto alone = with_heads({"rope"}, 3, 2);
  alone.runs.pop_back();
  CHECK_THAT(make_maps(alone, "attention_by_head").caption, ContainsSubstring("is a head at 1,024 tokens. A measure"));
  for (auto const& group : maps.groups)  // one scale for all arms
    for (std::size_t k = 0; k < 3; ++k) CHECK(group.panels[k].shading == k);
  CHECK(maps.shadings[0].low == 1011);
  CHECK(maps.shadings[0].high == 1212);
}

TEST_CASE("maps of thirty layers of nine heads, and of many arms, fit without touching", "[report][plot][maps]") {
  check_layout(make_maps(with_heads({"rope", "alibi", "nope"}, 30, 9), "attention_by_head"));
  std::vector<std::string> many;
  for (int i = 0; i < 14; ++i) many.push_back(text("made_up_encoding_", i));
  check_layout(make_maps(with_heads(many, 4, 4), "attention_by_head"));
  auto study = with_heads(many, 1, 1);
  for (auto& run : study.runs)
    run.depths = {{"passkey", "exact", "1", {64, 128, 256, 512}, {0.25, 0.75}, std::vector<double>(8, 0.5)}};
  check_layout(make_maps(study, "needle_grid"));
}

TEST_CASE("the grid of passkeys is the mean over seeds by depth and length, with what is missing as a dash",
          "[report][plot][maps]") {
  StudyView study;
  study.trained_length = 512;
  for (int seed : {11, 23}) {
    RunView run;
    run.encoding = "rope", run.scaling = "none", run.seed = seed;
    run.depths = {{"passkey", "exact", "1", {512, 256}, {0.25, 0.75}, {1, 0, 0.5, seed == 11 ? 0.75 : none}}};
    if (seed == 23) run.depths[0].length[0] = 1024;  // of another length than the first
    study.runs.push_back(run);
  }
  study.runs.push_back({});
  study.runs.back().encoding = "nope";  // without a passkey: no map
  auto const maps = make_maps(study, "needle_grid");
  REQUIRE(maps.groups.size() == 1);
  auto const& panel = maps.groups[0].panels.at(0);
  CHECK(panel.column_labels == std::vector<std::string>{"256", "512", "1,024"});
  CHECK(panel.row_labels == std::vector<std::string>{"25 %", "75 %"});
  CHECK(panel.words == std::vector<std::string>{"50", "100", "100", "75", "0", "0"});
  CHECK(panel.mark == 2);
  auto const csv = maps_csv(maps);
  CHECK_THAT(csv, ContainsSubstring("series,panel,rows,row,columns,column,value\n"));
  CHECK_THAT(csv, ContainsSubstring("\nrope,,told at,75 %,length,256,0.75\n"));
  study.runs.pop_back();
  for (auto& run : study.runs) run.depths[0].value[3] = none;
  auto const gap = make_maps(study, "needle_grid");
  CHECK(gap.groups[0].panels[0].words[3] == "–");
  CHECK(test::parse_markup(svg_file(gap), false).faults.empty());
}

TEST_CASE("shades grow with the value; where values have signs both ends have ten", "[report][plot][maps]") {
  Shading const plain{.low = 0, .high = 1};
  CHECK(plain.shade(0) == 0);
  CHECK(plain.shade(0.5) == 5);
  CHECK(plain.shade(7) == 10);
  Shading const log{.low = 1, .high = 1024, .log = true};
  CHECK(log.shade(32) == 5);
  Shading const signs{.low = -2, .high = 1, .signs = true};
  CHECK(signs.shade(-2) == -10);
  CHECK(signs.shade(1) == 5);
  Shading const flat{.low = 3, .high = 3};
  CHECK(flat.shade(3) == 0);
}

TEST_CASE("words on a map stand out from the darkest shade under them, in both themes", "[report][plot][maps]") {
  auto const channel = [](char const* hex, int at) { return std::stoi(std::string(hex + at, 2), nullptr, 16) / 255.0; };
  auto const linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  Shading const shading{.words = true};
  auto const contrast = [&](char const* ink, char const* page, char const* text) {
    double a = 0, b = 0, weights[] = {0.2126, 0.7152, 0.0722};
    for (int k = 0; k < 3; ++k) {
      int const at = 1 + 2 * k;
      double const o = shading.opacity(10);
      a += weights[k] * linear(o * channel(ink, at) + (1 - o) * channel(page, at));
      b += weights[k] * linear(channel(text, at));
    }
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
  };
  for (int ink : {0, 1}) {
    CHECK(contrast(inks[ink].light, "#ffffff", "#1c2127") >= 4);
    CHECK(contrast(inks[ink].dark, "#14181d", "#e8ebef") >= 4);
  }
}
