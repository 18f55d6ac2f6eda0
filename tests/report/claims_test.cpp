#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/report/claims.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/load.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sextant/base/json.hpp>

#include "support/temp_folder.hpp"

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;
using claims::Verdict;

claims::Outcome outcome(std::string id, Verdict verdict, std::string test, claims::Margin margin = {0, "nat/token"}) {
  claims::Outcome out;
  out.claim = {.id = id, .says = "claim <" + id + "> & more", .test = test, .settled = test, .margin = margin};
  out.verdict = verdict;
  if (verdict == Verdict::out_of_reach) {
    out.reason = "one seed (11) has no spread";
    return out;
  }
  out.effect = -0.125;
  out.interval = {-0.25, 0.5};
  out.p = 0.01;
  out.p_adjusted = 0.03;
  out.p_against = 1;
  out.seeds = 3;
  out.windows = 32;
  out.units = margin.units;
  return out;
}

claims::Judgement judgement() {
  return {
      0.05,
      {outcome("far", Verdict::holds, "lm_loss.mean @ 64 {encoding=a} < 2"),
       outcome("near", Verdict::fails, "lm_loss.mean @ 64 {encoding=a} == lm_loss.mean @ 64 {encoding=b}", {5, "%"}),
       outcome("open", Verdict::undecided, "lm_loss.mean @ 64 {encoding=a} >= 1"),
       outcome("later", Verdict::out_of_reach, "lm_loss.mean @ 9 {encoding=a} > 2")}};
}

TEST_CASE("the table of claims has verdict, effect, interval, p and n, and says what each claim is",
          "[report][claims]") {
  std::string const table = report::render(judgement(), report::Format::terminal);
  CHECK_THAT(table, ContainsSubstring("Claims: of 4, 1 holds, 1 fails, 1 is undecided, 1 is out of reach"));
  CHECK_THAT(table, ContainsSubstring("far    holds         −0.125 nat/token  −0.250 to +0.500     0.030  3 × 32"));
  CHECK_THAT(table, ContainsSubstring("later  out of reach                 –                 –         –       –"));
  CHECK_THAT(table,
             ContainsSubstring("later: claim <later> & more; tested as lm_loss.mean @ 9 {encoding=a} > 2. out of "
                               "reach: one seed (11) has no spread."));
  CHECK_THAT(table, ContainsSubstring(" by 5 %."));
  CHECK_THAT(report::render(judgement(), report::Format::markdown), ContainsSubstring("| far | holds |"));
  CHECK_THAT(report::render(judgement(), report::Format::latex), ContainsSubstring("\\toprule"));
}

TEST_CASE("the table of claims about a given model counts documents and says what verdicts are about",
          "[report][claims]") {
  auto about = judgement();
  about.sample = claims::Sample::documents;
  for (auto& each : about.outcomes) {
    each.sample = about.sample;
    each.seeds = 0;
    if (each.effect) each.windows = 8;
  }
  std::string const table = report::render(about, report::Format::terminal);
  CHECK_THAT(table, ContainsSubstring("−0.250 to +0.500     0.030  8 documents"));
  CHECK_THAT(table, ContainsSubstring("n: documents, each of which counts once. The model is given"));
  CHECK_THAT(report::render(about, report::Format::json), ContainsSubstring("\"sample\": \"documents\""));
  about.sample = claims::Sample::windows;
  CHECK_THAT(report::render(about, report::Format::terminal), ContainsSubstring("n: windows of one text."));
}

TEST_CASE("CSV and JSON of claims hold every number, and nothing where there is none", "[report][claims]") {
  std::string const csv = report::render(judgement(), report::Format::csv);
  CHECK_THAT(csv, ContainsSubstring("far,claim <far> & more,lm_loss.mean @ 64 {encoding=a} < 2,holds,-0.125,-0.25,0.5,"
                                    "nat/token,0.01,0.03,1,3,32,0,nat/token,paired_bootstrap,\n"));
  CHECK_THAT(csv, ContainsSubstring("out of reach,,,,,,,,0,0,0,nat/token"));
  auto const json = nlohmann::json::parse(report::render(judgement(), report::Format::json));
  REQUIRE(json["claims"].size() == 4);
  CHECK(json["claims"][0]["p_adjusted"] == 0.03);
  CHECK(json["claims"][1]["margin_units"] == "%");
  CHECK(json["claims"][3]["effect"].is_null());
  CHECK(json["claims"][3]["verdict"] == "out of reach");
}

TEST_CASE("the page begins with the board of claims, one row each, whatever their words hold",
          "[report][claims][html]") {
  auto study = test::synthetic_study();
  CHECK(report::html_report(study).find("class=\"claims\"") == std::string::npos);
  study.claims = judgement();
  std::string const page = report::html_report(study);
  auto const markup = test::parse_markup(page, true);
  CHECK(markup.faults == std::vector<std::string>{});
  auto const rows = markup.with_class("claim");
  REQUIRE(rows.size() == 4);
  CHECK_THAT(rows[0].text, ContainsSubstring("holds") && ContainsSubstring("claim <far> & more"));
  CHECK(rows[0].has_class("holds"));
  CHECK(rows[1].has_class("fails"));
  CHECK_THAT(rows[3].text, ContainsSubstring("one seed (11)"));
  CHECK(markup.with_class("whisker").size() == 3);  // an interval for each that was tested
  CHECK(markup.with_class("bound").size() == 4);    // two where the sides shall be near
  CHECK(page.find("id=\"claims\"") < page.find("id=\"results\""));
}

TEST_CASE("claims are read from a study file as they were written", "[report][claims][load]") {
  test::TempFolder const folder;
  results::Group study;
  study.set("schema", "sextant-results/1");
  study["runs"];
  study["summary"]["results"] = results::columns({});
  study["summary"]["claims"] = claims::to_group(judgement());
  results::write_file(folder / "study.h5", study);
  auto const read = report::load_study(folder / "study.h5");
  REQUIRE(read.claims);
  CHECK(report::claims_json(*read.claims) == report::claims_json(judgement()));
}

TEST_CASE("the table of seeds names how many, or why none", "[report][claims]") {
  std::vector<claims::SeedPlan> plans(2);
  plans[0] = {.id = "far", .effect = -0.05, .units = "nat/token", .spread = {0.1, 1e-4, 32}, .seeds = 27, .reason = ""};
  plans[1] = {.id = "later", .effect = {}, .units = "", .spread = {}, .seeds = {}, .reason = "one seed"};
  std::string const table = report::to_terminal(report::seeds_table(plans));
  CHECK_THAT(table, ContainsSubstring("far    −0.0500 nat/token         0.1000            0.0100     27"));
  CHECK_THAT(table, ContainsSubstring("later: one seed."));
  auto const json = nlohmann::json::parse(report::seeds_json(plans));
  CHECK(json[0]["seeds"] == 27);
  CHECK(json[1]["seeds"].is_null());
}
}  // namespace
}  // namespace sextant
