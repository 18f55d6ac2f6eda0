#include "markup.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/published.hpp>
#include <sextant/report/text.hpp>
#include <sextant/results/compare.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;

report::StudyView study() {
  auto out = test::synthetic_study();
  out.published = {{"Averages <of> seven tasks",
                    "A paper & others, table 1",
                    "%",
                    {{"RoPE", 51.7, "lm_loss.mean @ 256 {encoding=rope, scaling=none}"},
                     {"ALiBi, ours", 53, "lm_loss.mean @ 256 {encoding=alibi, scaling=none}"},
                     {"not run", 50.25, "lm_loss.mean @ 4096 {encoding=rope, scaling=none}"},
                     {"theirs alone", 49, ""}}},
                   {"Losses", "Another", "nat", {{"RoPE", 2, "lm_loss.mean @ 256 {encoding=rope, scaling=none}"}}}};
  return out;
}

statistics::Summary rope_at_256(report::StudyView const& view) {
  std::vector<double> values;
  for (auto const& row : view.rows)
    if (row.encoding == "rope" && row.scaling == "none" && row.probe == "lm_loss" && row.region == "mean" &&
        row.length == 256)
      values.push_back(row.value);
  return statistics::summarize(values);
}

TEST_CASE("published numbers: each stands beside ours, and what we lack is a dash", "[report][reference]") {
  auto const view = study();
  auto const table = report::published_table(view, view.published[0]);
  auto const ours = rope_at_256(view);
  REQUIRE(ours.n == 3);
  CHECK(table.rows[0][1].text == "51.70");  // places of the most exact number
  CHECK(table.rows[0][2].text == "rope");
  CHECK(table.rows[0][3].text ==
        report::cat({report::fixed(ours.mean, 3), " ± ", report::fixed(ours.interval->half(), 3)}));
  CHECK(table.rows[2][2].text == "rope");
  CHECK(table.rows[2][3].text == "–");
  CHECK(table.rows[3][2].text == "–");
  CHECK_THAT(table.notes.at(0), ContainsSubstring("Published: A paper & others, table 1."));
  CHECK_THAT(table.notes.at(1), ContainsSubstring("lm_loss.mean @ 256, nat/"));
}

TEST_CASE("published numbers: Markdown, LaTeX, CSV and the page have them, with their source", "[report][reference]") {
  auto const view = study();
  auto const render = [&](report::Format format) { return report::render_published(view, format); };
  CHECK_THAT(render(report::Format::markdown), ContainsSubstring("| RoPE | 51.70 | rope |"));
  CHECK_THAT(render(report::Format::latex), ContainsSubstring("A paper \\& others"));
  CHECK_THAT(render(report::Format::terminal), ContainsSubstring("theirs alone"));
  auto const csv = render(report::Format::csv);
  CHECK_THAT(csv,
             ContainsSubstring("\n\"Averages <of> seven tasks\"") || ContainsSubstring("\nAverages <of> seven tasks,"));
  CHECK_THAT(csv, ContainsSubstring("RoPE,51.7,%,rope,lm_loss.mean @ 256," + report::exact(*rope_at_256(view).mean)));
  CHECK_THAT(csv, ContainsSubstring("theirs alone,49,%,,,,,,0,"));
  auto const page = report::html_report(view);
  auto const markup = test::parse_markup(page, true);
  CHECK(markup.faults.empty());
  CHECK_THAT(page, ContainsSubstring("id=\"reference\""));
  CHECK_THAT(page, ContainsSubstring("Averages &lt;of&gt; seven tasks"));
  CHECK(report::html_report(test::synthetic_study()).find("id=\"reference\"") == std::string::npos);
}

TEST_CASE("published numbers: a study without them is told so, and a file gives them back", "[report][reference]") {
  CHECK_THROWS_WITH(report::render_published(test::synthetic_study(), report::Format::markdown),
                    ContainsSubstring("keeps no published numbers"));
  auto const group = claims::to_group(study().published);
  auto const back = claims::published_from(group);
  REQUIRE(back.size() == 2);
  CHECK(back[0].rows.size() == 4);
  CHECK(results::differences(claims::to_group(back), group).empty());
}
}  // namespace
}  // namespace sextant
