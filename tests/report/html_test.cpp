#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/compare.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <set>

using namespace sextant;
using namespace sextant::report;
using Catch::Matchers::ContainsSubstring;

namespace {
std::set<std::string> ids(test::Markup const& markup) {
  std::set<std::string> out;
  for (auto const& element : markup.elements)
    if (auto const at = element.attributes.find("id"); at != element.attributes.end()) out.insert(at->second);
  return out;
}

void check_page(std::string const& page) {
  auto const markup = test::parse_markup(page, true);
  CHECK(markup.faults == std::vector<std::string>{});
  auto const known = ids(markup);
  std::set<std::string> seen;
  for (auto const& element : markup.elements)
    for (auto const& [name, value] : element.attributes) {
      INFO(element.name << " " << name << "=" << value.substr(0, 80));
      CHECK_FALSE(name.starts_with("on"));  // no inline handlers
      if (name == "id") CHECK(seen.insert(value).second);
      bool const loads = name == "src" || name == "href" || name == "srcset" || name == "action" || name == "poster";
      if (loads) CHECK((value.starts_with("#") || value.starts_with("data:")));
      if (name == "href" && value.starts_with("#")) CHECK(known.contains(value.substr(1)));
      if (name == "aria-labelledby")
        for (std::size_t from = 0; from < value.size();) {
          std::size_t const end = std::min(value.find(' ', from), value.size());
          CHECK(known.contains(value.substr(from, end - from)));
          from = end + 1;
        }
    }
  for (auto const& style : markup.named("style"))
    CHECK_THAT(style.text, !ContainsSubstring("url(") && !ContainsSubstring("@import"));
  for (auto const& script : markup.named("script"))
    CHECK_THAT(script.text,
               !ContainsSubstring("fetch(") && !ContainsSubstring("XMLHttpRequest") && !ContainsSubstring("import("));
  CHECK_THAT(page, ContainsSubstring("default-src 'none'") || ContainsSubstring("default-src &#39;none&#39;"));
}
}  // namespace

TEST_CASE("the page is well formed, loads nothing from anywhere and links only to itself", "[report][html]") {
  check_page(html_report(test::synthetic_study()));
}

TEST_CASE("the page holds the question, every arm, every mean, the plots and the sources", "[report][html]") {
  auto const study = test::synthetic_study();
  auto const page = html_report(study);
  auto const markup = test::parse_markup(page, true);
  CHECK(markup.named("h1").at(0).text == study.title);
  CHECK(markup.with_class("question").at(0).text == study.question);
  CHECK(markup.with_class("sx-wide").size() == 5);
  CHECK(markup.with_class("sx-narrow").size() == 5);
  auto const table = markup.with_class("results").at(0);
  for (auto const& row : compare(study).rows) {
    CHECK_THAT(table.text, ContainsSubstring(row.label));
    for (auto const& cell : row.cells)
      CHECK_THAT(table.text,
                 ContainsSubstring(fixed(*cell.summary.mean, 3) + "± " + fixed(cell.summary.interval->half(), 3)));
  }
  CHECK(markup.with_class("best").size() >= 5);
  CHECK_THAT(page, ContainsSubstring("arXiv:2104.09864") && ContainsSubstring("synthetic source, line 1"));
  CHECK_THAT(page, ContainsSubstring("# &lt;default&gt;"));
  auto const best = *std::max_element(study.rows.begin(), study.rows.end(), [](auto const& a, auto const& b) {
    return (a.length == 2048 && a.region == "mean" ? -a.value : -9) <
           (b.length == 2048 && b.region == "mean" ? -b.value : -9);
  });
  REQUIRE(best.encoding == "rope+alibi");
  std::vector<double> values;
  for (auto const& row : study.rows)
    if (row.encoding == "rope+alibi" && row.length == 2048 && row.region == "mean") values.push_back(row.value);
  auto const summary = statistics::summarize(values);
  CHECK_THAT(markup.with_class("findings").at(0).text,
             ContainsSubstring(text("8 times the trained length, rope+alibi has the lowest loss: ",
                                    fixed(*summary.mean, 3), " ± ", fixed(summary.interval->half(), 3), " nat/byte.")));
}

TEST_CASE("whatever a study's texts hold, the page shows it and does not run it", "[report][html]") {
  std::string const evil = "<script>alert('x')</script>\"&\xFF";
  auto study = test::synthetic_study();
  study.title = study.question = study.name = study.tier = evil;
  study.sources = {evil};
  study.spec_resolved = study.spec_source = evil;
  study.facts.push_back({evil, evil});
  study.runs[0].status = "failed";
  study.runs[0].message = evil;
  study.runs[1].config.push_back({evil, evil});
  for (auto& row : study.rows)
    if (row.encoding == "alibi") row.encoding = evil;
  auto const page = html_report(study);
  check_page(page);
  auto const markup = test::parse_markup(page, true);
  CHECK(markup.named("script").size() == 1);
  CHECK_THAT(markup.named("h1").at(0).text, ContainsSubstring("<script>alert('x')</script>\"&\xEF\xBF\xBD"));
}

TEST_CASE("failed and unfinished runs are listed with their messages", "[report][html]") {
  auto study = test::synthetic_study();
  study.runs[0].status = "failed";
  study.runs[0].message = "loss became NaN at step 7\nsecond line";
  study.runs[1].status = "running";
  std::erase_if(study.rows, [&](ResultRow const& row) { return row.run == study.runs[0].id; });
  auto const page = html_report(study);
  check_page(page);
  auto const failed = test::parse_markup(page, true).with_class("fail");
  REQUIRE(failed.size() == 1);
  CHECK_THAT(test::parse_markup(page, true).with_class("findings").at(0).text, ContainsSubstring("1 run failed"));
  CHECK_THAT(failed[0].text,
             ContainsSubstring("nope, seed 11") && ContainsSubstring("loss became NaN at step 7\nsecond line"));
  CHECK_THAT(page, ContainsSubstring("1 run was not finished") && ContainsSubstring("(n=2)"));
}

TEST_CASE("pages of unusual studies are whole: one seed, gaps, no number, no rows, thirty arms", "[report][html]") {
  SECTION("one seed") {
    test::SyntheticOptions options;
    options.seeds = {0};
    auto const page = html_report(test::synthetic_study(options));
    check_page(page);
    CHECK_THAT(page, ContainsSubstring("One seed") && !ContainsSubstring("± "));
    CHECK(test::parse_markup(page, true).with_class("sx-band").empty());
  }
  SECTION("missing lengths and values that are not finite") {
    auto study = test::synthetic_study();
    std::erase_if(study.rows, [](ResultRow const& row) { return row.encoding == "nope" && row.length > 512; });
    for (auto& row : study.rows)
      if (row.encoding == "rope" && row.length == 2048) row.value = std::numeric_limits<double>::quiet_NaN();
    auto const page = html_report(study);
    check_page(page);
    CHECK_THAT(test::parse_markup(page, true).with_class("results").at(0).text, ContainsSubstring("not finite"));
    CHECK_THAT(page, !ContainsSubstring(">nan") && !ContainsSubstring("nan<"));
  }
  SECTION("no rows") {
    StudyView study;
    study.file = "empty.h5";
    study.name = "empty";
    auto const page = html_report(study);
    check_page(page);
    CHECK_THAT(page, ContainsSubstring("No run has been measured yet."));
  }
  SECTION("thirty arms with long names") {
    test::SyntheticOptions options;
    options.encodings.clear();
    options.lengths = {128, 256};
    for (int i = 0; i < 30; ++i)
      options.encodings.push_back(text("an encoding with a rather long name that goes on, number ", i));
    auto const page = html_report(test::synthetic_study(options));
    check_page(page);
    for (auto const& name : options.encodings) CHECK_THAT(page, ContainsSubstring(name));
  }
}
