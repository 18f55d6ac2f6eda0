#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/findings.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <sextant/base/json.hpp>
#include <sstream>

using namespace sextant;
using namespace sextant::report;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// A study with values written out: (encoding, scaling, seed, length, value).
StudyView tiny(std::vector<std::tuple<std::string, std::string, int, int, double>> const& rows) {
  StudyView study;
  study.file = "tiny.h5";
  study.name = "tiny";
  study.trained_length = 256;
  for (auto const& [encoding, scaling, seed, length, value] : rows)
    study.rows.push_back(
        {"r", seed, encoding, scaling, "lm_loss", length, "mean", "loss", value, no_number, 8, "nat/byte"});
  return study;
}

// Gives every row a run that was asked the last word of its label.
void ask_by_label(StudyView& study) {
  for (auto const& row : study.rows) {
    RunView run;
    run.id = row.run, run.seed = row.seed, run.status = "done", run.encoding = row.encoding, run.scaling = row.scaling;
    run.asked = row.encoding.substr(row.encoding.rfind(' ') + 1);
    study.runs.push_back(run);
  }
}

StudyView two_arms() {
  return tiny({{"rope", "none", 1, 256, 1.0},
               {"rope", "none", 2, 256, 1.2},
               {"rope", "none", 3, 256, 1.7},
               {"alibi", "none", 1, 256, 0.8},
               {"alibi", "none", 2, 256, 1.1},
               {"alibi", "none", 3, 256, 1.5}});
}

CompareOptions against(std::string const& baseline) {
  CompareOptions options;
  options.baseline = baseline;
  return options;
}

std::vector<std::string> lines(std::string const& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}
}  // namespace

TEST_CASE("a cell holds the mean and interval of its seeds, worked out by hand", "[report][table]") {
  auto const comparison = compare(two_arms(), against("rope"));
  REQUIRE(comparison.rows.size() == 2);
  auto const& rope = comparison.rows[0].cells[0];
  CHECK_THAT(*rope.summary.mean, WithinRel(1.3, 1e-14));
  CHECK_THAT(rope.summary.interval->half(), WithinRel(4.302652729911275 * std::sqrt(0.13 / 3), 1e-10));
  // alibi - rope: -.2 -.1 -.2; mean -1/6; sd sqrt(1/300); t = mean / (sd / sqrt 3) = -5; p = 1 - 5 / sqrt(27)
  auto const& versus = comparison.rows[1].cells[0].versus;
  CHECK_THAT(*versus.difference, WithinRel(-1.0 / 6, 1e-12));
  CHECK_THAT(*versus.p, WithinRel(1 - 5 / std::sqrt(27.0), 1e-9));
  CHECK_THAT(*versus.effect, WithinRel(-5 / std::sqrt(3.0), 1e-9));
  CHECK(comparison.tests == 1);
  CHECK(comparison.rows[1].cells[0].p_adjusted == versus.p);
  CHECK(comparison.rows[0].is_baseline);
}

TEST_CASE("the best of a column is marked, and what pairing cannot tell from it is tied", "[report][table]") {
  auto study = two_arms();
  for (auto const& row :
       tiny({{"nope", "none", 1, 256, 2.0}, {"nope", "none", 2, 256, 2.2}, {"nope", "none", 3, 256, 2.6}}).rows)
    study.rows.push_back(row);
  auto const comparison = compare(study);
  CHECK(comparison.rows[1].cells[0].mark == Mark::best);
  CHECK(comparison.rows[0].cells[0].mark == Mark::none);  // pairs differ by -.2 -.1 -.2: |t| 5 exceeds 4.30
  study.rows[4].value = 1.25;                             // now -.2 +.05 -.2: mean -.1167, sd .1443, |t| 1.4
  CHECK(compare(study).rows[0].cells[0].mark == Mark::tied);
  CHECK(compare(study).rows[2].cells[0].mark == Mark::none);
}

TEST_CASE("pairs are formed by seed, over the seeds that both arms have", "[report][table]") {
  // rope has seeds 1 2 3, alibi 2 3 9: pairs (1.2, 1.1) and (1.7, 1.5); differences -.1 -.2, whatever the rows' order.
  auto const study = tiny({{"rope", "none", 3, 256, 1.7},
                           {"rope", "none", 1, 256, 1.0},
                           {"rope", "none", 2, 256, 1.2},
                           {"alibi", "none", 9, 256, 5.0},
                           {"alibi", "none", 3, 256, 1.5},
                           {"alibi", "none", 2, 256, 1.1}});
  auto const& versus = compare(study, against("rope")).rows[1].cells[0].versus;
  CHECK(versus.n == 2);
  CHECK_THAT(*versus.difference, WithinRel(-0.15, 1e-12));
}

TEST_CASE("an arm that nobody competes with is not called best", "[report][table]") {
  auto const comparison =
      compare(tiny({{"rope", "none", 1, 256, 1.0}, {"rope", "none", 1, 512, 1.0}, {"nope", "none", 1, 256, 2.0}}));
  CHECK(comparison.rows[0].cells[0].mark == Mark::best);
  CHECK(comparison.rows[0].cells[1].mark == Mark::none);
}

TEST_CASE("pairs that differ alike up to rounding have no effect size, in tables, CSV, JSON and on pages",
          "[report][table]") {
  auto const study = tiny({{"rope", "none", 1, 256, 0.7},
                           {"rope", "none", 2, 256, 0.8},
                           {"rope", "none", 3, 256, 0.9},
                           {"alibi", "none", 1, 256, 0.6},
                           {"alibi", "none", 2, 256, 0.7},
                           {"alibi", "none", 3, 256, 0.8},
                           {"fire", "none", 1, 256, std::nextafter(0.6, 1.0)},
                           {"fire", "none", 2, 256, std::nextafter(0.7, 0.0)},
                           {"fire", "none", 3, 256, 0.8}});
  auto const comparison = compare(study, against("rope"));
  auto const table = differences_table(comparison);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][7].text == missing);
  auto const noted = ContainsSubstring("all pairs differ by one amount, up to the rounding of their values");
  CHECK_THAT(to_terminal(table), noted);
  CHECK_THAT(html_report(study), noted);
  CHECK_THAT(comparison_csv(comparison), ContainsSubstring(",0,0,,nat/byte,0,\n"));  // p, p_holm, effect
  auto const json = nlohmann::json::parse(comparison_json(comparison));
  CHECK(json["rows"][1]["cells"][0]["versus_baseline"]["effect"].is_null());
  CHECK(comparison.rows[1].cells[0].mark != Mark::none);  // one of the two is best, and the other tied with it
  CHECK(comparison.rows[2].cells[0].mark != Mark::none);
  CHECK_THAT(to_terminal(differences_table(compare(two_arms(), against("rope")))), !noted);
}

TEST_CASE("for an accuracy the highest is best", "[report][table]") {
  auto study = two_arms();
  for (auto& row : study.rows) row.metric = "accuracy";
  auto const comparison = compare(study);
  CHECK(comparison.rows[0].cells[0].mark == Mark::best);
}

TEST_CASE("arms of different tasks are not ranked against each other, and each meets the baseline of its own",
          "[report][table]") {
  auto study = tiny({{"rope / sort", "none", 1, 20, 0.5},
                     {"nope / sort", "none", 1, 20, 0.9},
                     {"rope / parity", "none", 1, 20, 0.4},
                     {"nope / parity", "none", 1, 20, 0.3},
                     {"fox / copy", "none", 1, 20, 1.0}});
  for (auto& row : study.rows) row.probe = "accuracy", row.metric = "token", row.units = "1";
  ask_by_label(study);
  auto const comparison = compare(study, {.baseline = "rope / sort", .probe = "accuracy"});
  auto const mark = [&](std::size_t row) { return comparison.rows[row].cells[0].mark; };
  CHECK(mark(0) == Mark::none);
  CHECK(mark(1) == Mark::best);
  CHECK(mark(2) == Mark::best);
  CHECK(mark(3) == Mark::none);
  CHECK(mark(4) == Mark::none);  // no rival
  CHECK(comparison.rows[0].is_baseline);
  CHECK(comparison.rows[1].baseline == "rope / sort");
  CHECK(comparison.rows[2].is_baseline);
  CHECK(comparison.rows[3].baseline == "rope / parity");
  CHECK_THAT(*comparison.rows[3].cells[0].versus.difference, WithinRel(-0.1, 1e-12));
  CHECK(comparison.rows[4].baseline.empty());
  CHECK_THAT(to_terminal(results_table(comparison)),
             ContainsSubstring("highest of its column, among the arms that answer the same."));
  auto const csv = lines(comparison_csv(comparison));
  CHECK(csv[0].ends_with(",units,rivals,rivals_name"));
  CHECK(csv[1].ends_with(",1,0,sort"));
  CHECK(csv[4].ends_with(",1,1,parity"));
  CHECK(csv[5].ends_with(",1,2,fox / copy"));
  auto const json = nlohmann::json::parse(comparison_json(comparison));
  CHECK(json["rivals"][1] == nlohmann::json{{"name", "parity"}, {"rows", {2, 3}}});
  for (std::size_t row = 0; row < 5; ++row) CHECK(json["rows"][row]["rivals"] == row / 2);
  auto const findings = findings_of(comparison);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0] == "sort: at 20 tokens, nope / sort has the highest accuracy (token): 0.900.");
  CHECK(findings[1] == "parity: at 20 tokens, rope / parity has the highest accuracy (token): 0.400.");
}

TEST_CASE("a baseline of several parts finds its like by all of them", "[report][table]") {
  auto study = tiny({{"rope / canvas / sort", "none", 1, 20, 0.5},
                     {"rope / flat / sort", "none", 1, 20, 0.6},
                     {"rope / canvas / copy", "none", 1, 20, 0.7},
                     {"rope / flat / copy", "none", 1, 20, 0.8},
                     {"nope / flat / copy", "none", 1, 20, 0.9}});
  ask_by_label(study);
  auto const comparison = compare(study, against("rope / flat / sort"));
  CHECK(comparison.rows[0].baseline == "rope / flat / sort");
  CHECK(comparison.rows[2].baseline == "rope / flat / copy");
  CHECK(comparison.rows[3].is_baseline);
  CHECK(comparison.rows[4].baseline == "rope / flat / copy");
}

TEST_CASE("an arm that lacks a seed or diverged is shown but never best", "[report][table]") {
  auto study = two_arms();
  study.rows[5].value = no_number;
  auto comparison = compare(study);
  CHECK(comparison.rows[0].cells[0].mark == Mark::best);
  CHECK(comparison.rows[1].cells[0].mark == Mark::none);
  auto text = to_terminal(results_table(comparison));
  CHECK_THAT(text, ContainsSubstring("(1 not finite)") && !ContainsSubstring("nan"));
  study.rows.pop_back();
  comparison = compare(study);
  CHECK(comparison.rows[1].cells[0].mark == Mark::none);
  CHECK_THAT(to_terminal(results_table(comparison)), ContainsSubstring("(n=2)"));
  for (auto& row : study.rows)
    if (row.encoding == "alibi") row.value = std::numeric_limits<double>::infinity();
  text = to_terminal(results_table(compare(study)));
  CHECK_THAT(text, ContainsSubstring("not finite") && !ContainsSubstring("inf "));
}

TEST_CASE("one seed gives a mean, no interval, and says so", "[report][table]") {
  auto const comparison =
      compare(tiny({{"rope", "none", 1, 256, 1.5}, {"alibi", "none", 1, 256, 1.25}}), against("rope"));
  auto const text = render(comparison, Format::terminal);
  CHECK_THAT(text, ContainsSubstring("1.250") && !ContainsSubstring("±"));
  CHECK_THAT(text, ContainsSubstring("One seed: no interval"));
  CHECK_THAT(text, ContainsSubstring("No test"));
  CHECK(comparison.tests == 0);
}

TEST_CASE("a length that an arm was not measured at is a dash, and the trained length is marked", "[report][table]") {
  auto const table = results_table(
      compare(tiny({{"rope", "none", 1, 256, 1.5}, {"rope", "none", 1, 512, 2.5}, {"alibi", "none", 1, 256, 1.25}})));
  CHECK(table.rows[1][2].text == missing);
  CHECK(table.columns[1].header == "256 (trained)");
  CHECK(table.columns[1].trained);
  CHECK_FALSE(table.columns[2].trained);
}

TEST_CASE("by scaling, every scaled arm is compared with its own encoding unscaled", "[report][table]") {
  CompareOptions options;
  options.by = By::scaling;
  auto const comparison = compare(test::synthetic_study(), options);
  REQUIRE(comparison.rows.size() == 4);
  CHECK(comparison.rows[0].label == "rope");
  CHECK(comparison.rows[0].is_baseline);
  for (std::size_t i = 1; i < 4; ++i) CHECK(comparison.rows[i].baseline == "rope");
  CHECK(comparison.tests == 15);
}

TEST_CASE("by scaling, a study without scalings is refused, rather than shown as an empty table", "[report][table]") {
  CHECK_THROWS_WITH(compare(two_arms(), {.by = By::scaling}), ContainsSubstring("tiny.h5: no arm was scaled"));
}

TEST_CASE("by encoding, scaled arms are left out", "[report][table]") {
  CompareOptions options;
  options.by = By::encoding;
  auto const comparison = compare(test::synthetic_study(), options);
  CHECK(comparison.rows.size() == 6);
  CHECK(by_from("encoding") == By::encoding);
  CHECK_THROWS_WITH(by_from("encodin"), ContainsSubstring("did you mean encoding?"));
}

TEST_CASE("two studies share a table: labels say which, and each meets the baseline of its own", "[report][table]") {
  std::vector<StudyView> studies{two_arms(), two_arms()};
  studies[1].name = "again";
  for (auto& row : studies[1].rows) row.value += row.encoding == "rope" ? 1.0 : 2.0;
  auto const comparison = compare(studies, against("rope"));
  REQUIRE(comparison.rows.size() == 4);
  CHECK(comparison.rows[3].label == "again: alibi");
  CHECK(comparison.rows[3].baseline == "again: rope");
  CHECK_THAT(*comparison.rows[3].cells[0].versus.difference, WithinRel(1 - 1.0 / 6, 1e-12));
  studies[1].name = studies[0].name;
  studies[1].file = "other.h5";
  CHECK(compare(studies).rows[3].label == "other.h5: alibi");
  for (auto& row : studies[1].rows) row.units = "bit/byte";
  CHECK_THROWS_WITH(compare(studies), ContainsSubstring("other.h5") && ContainsSubstring("bit/byte"));
}

TEST_CASE("across studies, a baseline named with its study meets every arm of the others, seed by seed",
          "[report][table]") {
  std::vector<StudyView> studies{two_arms(), two_arms()};
  studies[1].name = "again";
  std::erase_if(studies[1].rows, [](auto const& row) { return row.seed == 2; });
  for (auto& row : studies[1].rows) row.value += row.encoding == "rope" ? (row.seed == 1 ? 0.25 : 0.5) : 2.0;
  auto const comparison = compare(studies, against("tiny: rope"));
  REQUIRE(comparison.rows[2].label == "again: rope");
  CHECK(comparison.rows[2].baseline == "tiny: rope");
  auto const& versus = comparison.rows[2].cells[0].versus;
  CHECK(versus.n == 2);  // seeds 1 and 3
  CHECK_THAT(*versus.difference, WithinRel(0.375, 1e-12));
  CHECK_THAT(*versus.p, WithinRel(1 - 2 / M_PI * std::atan(0.375 / 0.125), 1e-9));  // t = 3 with one degree: Cauchy
  CHECK(comparison.tests == 3);
}

TEST_CASE("what is not there is refused by name", "[report][table]") {
  CHECK_THROWS_WITH(compare(two_arms(), against("rop")), ContainsSubstring("did you mean rope?"));
  CompareOptions options;
  options.region = "mean64";
  CHECK_THROWS_WITH(compare(two_arms(), options),
                    ContainsSubstring("tiny.h5") && ContainsSubstring("no region \"mean64\""));
  auto twice = two_arms();
  twice.rows.push_back(twice.rows[0]);
  twice.rows.back().value = 9;
  CHECK_THROWS_WITH(compare(twice), ContainsSubstring("two values for arm rope, seed 1"));
  StudyView empty;
  empty.file = "empty.h5";
  CHECK_THROWS_WITH(compare(empty), ContainsSubstring("empty.h5") && ContainsSubstring("no rows"));
}

TEST_CASE("every number of the CSV is the independent mean of that arm's rows", "[report][table]") {
  auto const study = test::synthetic_study();
  auto const text = lines(comparison_csv(compare(study, against("rope"))));
  REQUIRE(text.size() == 1 + 9 * 5);
  std::size_t checked = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    // direct_sum(rope, alibi) is quoted for its comma; no other field is.
    std::string line = text[i];
    auto const quoted = line.find("\"direct_sum(rope, alibi)\"");
    if (quoted != std::string::npos) line.replace(quoted, 25, "direct_sum");
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    double sum = 0;
    int n = 0;
    for (auto const& row : study.rows) {
      auto const encoding = row.encoding.starts_with("direct_sum") ? "direct_sum" : row.encoding;
      if (encoding == fields[1] && row.scaling == fields[2] && row.region == "mean" &&
          std::to_string(row.length) == fields[6])
        sum += row.value, ++n;
    }
    REQUIRE(n == 3);
    CHECK_THAT(std::stod(fields[10]), WithinRel(sum / 3, 1e-12));
    ++checked;
  }
  CHECK(checked == 45);
}

TEST_CASE("the JSON is whole: every seed's value, null where there is nothing", "[report][table]") {
  auto study = two_arms();
  study.rows[5].value = no_number;
  auto const json = nlohmann::json::parse(comparison_json(compare(study, against("rope"))));
  CHECK(json["rows"].size() == 2);
  CHECK(json["rows"][0]["baseline"].is_null());
  CHECK(json["rows"][1]["cells"][0]["values"][2].is_null());
  CHECK(json["rows"][1]["cells"][0]["versus_baseline"]["n"] == 2);
  CHECK(json["trained_length"] == 256);
  CHECK(json["rows"][0]["cells"][0]["mark"] == "best");
}

TEST_CASE("terminal lines have their columns in line whatever the script of a name", "[report][table]") {
  auto study = two_arms();
  for (auto& row : study.rows)
    if (row.encoding == "alibi") row.encoding = "线性偏置 é\xCC\x81";
  auto const text = lines(to_terminal(results_table(compare(study))));
  std::set<int> ends;
  for (auto const& line : text)
    if (line.find("±") != std::string::npos && line.find("Mean") == std::string::npos)
      ends.insert(display_width(line.substr(0, line.find("±"))));
  CHECK(ends.size() == 1);
  CHECK(display_width("线性偏置") == 8);
  CHECK(display_width("e\xCC\x81") == 1);
  CHECK(display_width("\x1b[1mab\x1b[0m") == 2);
}

TEST_CASE("colour appears only when asked for and never changes the width", "[report][table]") {
  auto const table = results_table(compare(test::synthetic_study()));
  auto const plain = to_terminal(table), coloured = to_terminal(table, {true, 0});
  CHECK_THAT(plain, !ContainsSubstring("\x1b["));
  CHECK_THAT(coloured, ContainsSubstring("\x1b[1;32m"));
  CHECK(display_width(lines(plain)[4]) == display_width(lines(coloured)[4]));
  CHECK_FALSE(terminal_look(-1).colour);  // not a terminal
}

TEST_CASE("a table wider than the terminal is split, with the labels repeated", "[report][table]") {
  auto const text = to_terminal(results_table(compare(test::synthetic_study())), {false, 60});
  std::size_t labels = 0;
  for (auto const& line : lines(text)) {
    if (line.starts_with("sinusoidal")) ++labels;
    if (line.find("─") != std::string::npos) CHECK(display_width(line) <= 60);
  }
  CHECK(labels >= 2);
}

TEST_CASE("Markdown and LaTeX escape what a name may hold", "[report][table]") {
  auto study = two_arms();
  for (auto& row : study.rows)
    if (row.encoding == "alibi") row.encoding = "a|b_c*<d>&100%";
  auto const table = results_table(compare(study));
  CHECK_THAT(to_markdown(table), ContainsSubstring("a\\|b\\_c\\*&lt;d>&100%"));
  auto const latex = to_latex(table);
  CHECK_THAT(latex, ContainsSubstring("a|b\\_c*<d>\\&100\\%"));
  CHECK_THAT(latex, ContainsSubstring("\\toprule") && ContainsSubstring("\\textbf{1.133 $\\pm$ "));
  for (auto const& line : lines(to_markdown(table)))
    if (line.starts_with("|"))
      CHECK(std::count(line.begin(), line.end(), '|') - (line.find("\\|") != std::string::npos) == 3);
  CHECK_THAT(to_csv({"", {{"x,y"}}, {{{"say \"hi\""}}}, {}}), ContainsSubstring("\"x,y\"\n\"say \"\"hi\"\"\""));
}

TEST_CASE("numbers are written as people read them", "[report][text]") {
  CHECK(fixed(-0.0001, 3) == "0.000");
  CHECK(fixed(-1.5, 2) == "−1.50");
  CHECK(fixed(no_number, 2) == missing);
  CHECK(with_sign(0.25, 2) == "+0.25");
  CHECK(with_sign(0.001, 2) == "0.00");
  CHECK(exact(0.1) == "0.1");
  CHECK(exact(no_number).empty());
  CHECK(p_value(0.0004) == "<0.001");
  CHECK(p_value(0.031) == "0.031");
  CHECK(decimals_for(9.99) == 3);
  CHECK(decimals_for(0) == 3);
  CHECK(fixed(5.12e-6, decimals_for(5.12e-6)) == "0.0000051");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-123) == "-123");
  CHECK(grouped(-1234) == "-1,234");
  CHECK(duration(754) == "12.6 min");
  CHECK(base64("") == "");
  CHECK(base64("M") == "TQ==");
  CHECK(base64("Ma") == "TWE=");
  CHECK(base64("Man") == "TWFu");
  CHECK(clean_utf8("a\xFF\x01z") == "a\xEF\xBF\xBD z");
  CHECK(ellipsize("abcdef", 4) == "abc…");
  CHECK(ellipsize("线性偏置", 5) == "线性…");
  CHECK(ellipsize_middle("abcdefghi", 6) == "abc…hi");
  CHECK(ellipsize_middle("线性偏置x", 7) == "线性…x");
  CHECK(ellipsize_middle("abc", 6) == "abc");
}

TEST_CASE("arms come in the order of the plan, an encoding's scalings after it", "[report][table]") {
  auto study = tiny({{"rope", "yarn", 1, 256, 1.0}, {"extra", "none", 1, 256, 2.0}});
  for (auto const& [encoding, scaling] :
       {std::pair{"nope", "none"}, {"rope", "none"}, {"alibi", "none"}, {"rope", "ntk"}}) {
    study.runs.emplace_back();
    study.runs.back().encoding = encoding;
    study.runs.back().scaling = scaling;
  }
  std::vector<std::string> labels;
  for (auto const& arm : arms_of(study)) labels.push_back(arm.label());
  CHECK(labels == std::vector<std::string>{"nope", "rope", "rope · ntk", "rope · yarn", "alibi", "extra"});
}

TEST_CASE("format names are the five known ones", "[report][table]") {
  CHECK(format_from("latex") == Format::latex);
  CHECK_THROWS_WITH(format_from("latx"), ContainsSubstring("did you mean latex?"));
}
