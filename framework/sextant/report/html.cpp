#include <sextant/report/claims.hpp>
#include <sextant/report/findings.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/html_page.hpp>
#include <sextant/report/html_tables.hpp>
#include <sextant/report/learning.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/published.hpp>
#include <sextant/report/reach.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>

namespace sextant::report {
namespace {
void header(Page& page) {
  auto const& study = page.study;
  auto& out = page.out;
  auto const header = out.element("header");
  out.text("p", {{"class", "kicker"}}, cat({"Study ", study.name}));
  out.text("h1", {}, title_of(study));
  if (!study.question.empty()) out.text("p", {{"class", "question"}}, study.question);
  auto findings = findings_of(page.comparison);
  auto const failed =
      std::count_if(study.runs.begin(), study.runs.end(), [](auto const& r) { return r.status == "failed"; });
  auto const waiting = std::count_if(study.runs.begin(), study.runs.end(),
                                     [](auto const& r) { return r.status == "planned" || r.status == "running"; });
  if (waiting > 0)
    findings.push_back(cat({std::to_string(waiting), " of ", std::to_string(study.runs.size()),
                            " runs are not finished: these numbers are what is there so far."}));
  if (failed > 0)
    findings.push_back(cat({std::to_string(failed), failed == 1 ? " run" : " runs", " failed: see Failures."}));
  if (!findings.empty()) {
    auto const list = out.element("ul", {{"class", "findings"}});
    for (auto const& finding : findings) out.text("li", {}, finding);
  }
  auto const dl = out.element("dl", {{"class", "meta"}});
  auto const fact = [&](char const* name, std::string const& value) {
    if (value.empty()) return;
    auto const div = out.element("div");
    out.text("dt", {}, name);
    out.text("dd", {}, value);
  };
  auto const done =
      std::count_if(study.runs.begin(), study.runs.end(), [](auto const& r) { return r.status == "done"; });
  fact("arms", std::to_string(page.arms.size()));
  fact("seeds", std::to_string(seeds_of(study).size()));
  if (study.trained_length) fact("trained at", cat({grouped(*study.trained_length), " tokens"}));
  fact("tier", study.tier);
  fact("finished runs", cat({std::to_string(done), " of ", std::to_string(study.runs.size())}));
}

void results(Page& page) {
  auto const scope = page.section("results", "Result");
  if (page.study.rows.empty()) return page.out.text("p", {}, "No run has been measured yet.");
  page.out.text("p", {{"class", "lead"}}, cat({results_table(page.comparison).title, "."}));
  results_html(page.out, page.comparison, page.looks);
  page.data("Data of this table", cat({page.study.name, "-results.csv"}), comparison_csv(page.comparison));
}

void plots_section(Page& page) {
  std::vector<Figure> figures;
  for (auto const& plot : plots())
    if (auto drawn = plot.make(page.study, page.looks)) figures.push_back(std::move(*drawn));
  if (figures.empty()) return;
  auto& out = page.out;
  auto const scope = page.section("plots", "Plots");
  for (auto const& drawn : figures) {
    auto const figure = out.element("figure", {{"id", "plot-" + id_of(drawn)}});
    out.text("h3", {}, title_of(drawn));
    {
      auto const plot = out.element("div", {{"class", "plot"}});
      out.raw(svg_inline(drawn, Layout::wide));
      out.raw(svg_inline(drawn, Layout::narrow));
    }
    {
      auto const caption = out.element("figcaption");
      out.text("b", {}, "How to read this. ");
      out.text(caption_of(drawn));
      for (auto const& note : notes_of(drawn)) out.text(cat({" ", note}));
    }
    page.data("Data behind this plot", cat({page.study.name, "-", id_of(drawn), ".csv"}), csv_of(drawn));
  }
}

void differences(Page& page) {
  bool const any = std::any_of(page.comparison.rows.begin(), page.comparison.rows.end(), [](ComparisonRow const& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](Cell const& cell) { return cell.versus.n > 0; });
  });
  if (!any) return;
  std::string const base = default_baseline(page.study);
  char const* const better = page.comparison.lower_is_better ? "Negative is better than " : "Positive is better than ";
  bool const several = page.comparison.rivals.size() > 1;
  auto const scope =
      page.section("differences", cat({"Differences to ", base, several ? " and its like" : ""}),
                   cat({"Each arm minus ", base, several ? ", or the arm like it that answers the same" : "",
                        ", seed by seed. Arms that share text, batch and order read the same data under one seed, "
                        "so their difference is steadier than either value. ",
                        better, base, "."}));
  differences_html(page.out, page.comparison, page.looks);
  page.fold("Every difference with its interval and p-values", "",
            [&] { page.table(differences_table(page.comparison)); });
}

// How far arms reach, and how fast they learn.
void derived(Page& page) {
  std::pair<char const*, Table> const tables[] = {
      {"Effective length", reach_table(page.study)},
      {"Learning speed", learning_table(page.study, default_baseline(page.study))}};
  if (std::all_of(std::begin(tables), std::end(tables), [](auto const& each) { return each.second.rows.empty(); }))
    return;
  auto const scope = page.section("reach", "Reach and speed");
  for (auto const& [name, table] : tables) {
    if (table.rows.empty()) continue;
    page.out.text("h3", {}, name);
    page.out.text("p", {}, cat({table.title, "."}));
    page.table(table);
    for (auto const& note : table.notes) page.out.text("p", {{"class", "notes"}}, note);
  }
}

// Tables of whatever else was measured, folded.
void other_measures(Page& page) {
  std::vector<Quantity> others;
  for (auto const& quantity : quantities_of(page.study))
    if (!(quantity == page.comparison.quantity)) others.push_back(quantity);
  if (others.empty()) return;
  auto const scope = page.section("measures", "Other measures");
  for (auto const& quantity : others) {
    Comparison comparison = compare(page.study, options_of(quantity));
    std::erase_if(comparison.rows, [](ComparisonRow const& row) {
      return std::all_of(row.cells.begin(), row.cells.end(), [](Cell const& cell) { return cell.seeds.empty(); });
    });
    page.fold(cat({quantity.probe, ", ", quantity.region, " ", quantity.metric}), comparison.units,
              [&] { results_html(page.out, comparison, page.looks); });
  }
}

void footer(Page& page) {
  auto const& study = page.study;
  page.out.text(
      "footer", {},
      cat({"Made by ", study.creator.empty() ? "sextant" : study.creator, " from ",
           fs::path(study.file).filename().string(), ". This page needs no network: save it, mail it, print it."}));
}
}  // namespace

std::string html_report(StudyView const& study) {
  Page page(study);
  {
    auto const main = page.out.element("main", {{"id", "main"}});
    header(page);
    claims_section(page);
    results(page);
    published_section(page);
    plots_section(page);
    differences(page);
    derived(page);
    other_measures(page);
    arms_section(page);
    failures_section(page);
    provenance_section(page);
    spec_section(page);
    sources_section(page);
    footer(page);
  }
  return html_document({title_of(study), study.creator, page.headings}, page.out.str());
}

std::string terminal_table(StudyView const& study, int fd) {
  return to_terminal(results_table(compare(study)), terminal_look(fd));
}

}  // namespace sextant::report
