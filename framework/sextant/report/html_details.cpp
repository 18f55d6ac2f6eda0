// The sections of the page that list details: arms, failures, provenance, spec, sources.
#include <sextant/base/error.hpp>
#include <sextant/report/chart.hpp>
#include <sextant/report/html_page.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sextant::report {
namespace {
double mean_speed(RunView const& run) {
  auto const summary = statistics::summarize(run.train.speed);
  return summary.mean.value_or(std::nan(""));
}

// Bytes as the file gives them, in the GiB that people think in.
std::string memory_text(std::string const& bytes) {
  double value = 0;
  auto const parsed = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != bytes.data() + bytes.size()) return bytes;
  return cat({fixed(value / 0x1p30, 1), " GiB"});
}

std::string label_of(RunView const& run) { return Arm{run.encoding, run.scaling}.label(); }

// "3 runs, 41,250 tokens/s, 61 s of training each"
std::string arm_summary(std::vector<RunView const*> const& runs) {
  if (runs.empty()) return "";
  std::vector<double> speed, seconds;
  for (auto const* run : runs) {
    if (!run->train.wall.empty()) seconds.push_back(run->train.wall.back());
    speed.push_back(mean_speed(*run));
  }
  std::string out = cat({std::to_string(runs.size()), runs.size() == 1 ? " run" : " runs"});
  if (auto const s = statistics::summarize(speed); s.mean)
    out += cat({", ", grouped(std::llround(*s.mean)), " tokens/s"});
  if (auto const s = statistics::summarize(seconds); s.mean) out += cat({", ", duration(*s.mean), " of training each"});
  return out;
}

void seed_table(Page& page, Arm const& arm) {
  auto const& comparison = page.comparison;
  auto const row = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                [&](ComparisonRow const& each) { return each.arm == arm; });
  if (row == comparison.rows.end()) return;
  std::vector<std::string> head{"seed"};
  for (auto const length : comparison.lengths) head.push_back(grouped(length));
  std::vector<std::vector<std::string>> rows;
  for (auto const seed : comparison.seeds) {
    std::vector<std::string> cells{std::to_string(seed)};
    for (auto const& cell : row->cells) {
      auto const value = value_of(cell, seed);
      cells.push_back(!value                  ? std::string(missing)
                      : std::isfinite(*value) ? fixed(*value, decimals_for(*value) + 1)
                                              : "not finite");
    }
    rows.push_back(std::move(cells));
  }
  page.table(head, rows, cat({arm.label(), " by seed and length"}));
}

void run_table(Page& page, Arm const& arm, std::vector<RunView const*> const& runs) {
  std::vector<std::vector<std::string>> rows;
  for (auto const* run : runs) {
    double const speed = mean_speed(*run);
    rows.push_back({run->id, std::to_string(run->seed), run->status,
                    run->train.loss.empty() ? std::string(missing) : fixed(run->train.loss.back(), 3),
                    std::isfinite(speed) ? grouped(std::llround(speed)) : std::string(missing),
                    run->parents.empty() ? std::string(missing) : join(run->parents)});
  }
  page.table({"run", "seed", "status", "last training loss", "tokens/s", "weights from"}, rows,
             cat({"runs of ", arm.label()}), true);
}
}  // namespace

void arms_section(Page& page) {
  if (page.arms.empty()) return;
  auto const scope = page.section("arms", "Arms");
  for (auto const& arm : page.arms) {
    auto const runs = runs_of(page.study, arm);
    auto const details = page.out.element("details");
    {
      auto const summary = page.out.element("summary");
      page.out.raw(swatch(page.looks.of(arm)));
      page.out.text(arm.label());
      page.out.text("span", {{"class", "side"}}, arm_summary(runs));
    }
    auto const div = page.out.element("div");
    seed_table(page, arm);
    if (runs.empty()) continue;
    run_table(page, arm, runs);
    if (runs.front()->config.empty()) continue;
    page.out.text("h3", {}, cat({"Settings of run ", runs.front()->id}));
    page.facts(runs.front()->config);
  }
}

void failures_section(Page& page) {
  std::vector<RunView const*> failed, waiting;
  for (auto const& run : page.study.runs) {
    if (run.status == "failed") failed.push_back(&run);
    if (run.status == "planned" || run.status == "running") waiting.push_back(&run);
  }
  if (failed.empty() && waiting.empty()) return;
  auto const scope = page.section("failures", failed.empty() ? "Unfinished runs" : "Failures");
  for (auto const* run : failed) {
    auto const div = page.out.element("div", {{"class", "fail"}});
    page.out.text("b", {}, cat({label_of(*run), ", seed ", std::to_string(run->seed), ", run ", run->id}));
    page.out.text("pre", {}, run->message.empty() ? "failed without a message" : run->message);
  }
  if (waiting.empty()) return;
  char const* const were = waiting.size() == 1 ? " run was" : " runs were";
  page.out.text("p", {}, cat({std::to_string(waiting.size()), were, " not finished when this page was written:"}));
  auto const list = page.out.element("ul");
  for (auto const* run : waiting)
    page.out.text("li", {}, cat({label_of(*run), ", seed ", std::to_string(run->seed), ": ", run->status}));
}

void provenance_section(Page& page) {
  auto const& study = page.study;
  auto const scope =
      page.section("provenance", "Provenance", "Where these numbers come from, as the runs recorded it.");
  Facts all{{"results file", study.file}, {"written by", study.creator}, {"written", study.created}};
  for (auto [name, value] : study.facts) {
    if (name == "memory") value = memory_text(value);
    std::replace(name.begin(), name.end(), '_', ' ');
    all.emplace_back(name, value);
  }
  page.facts(all);
  auto const list = [&](char const* name, std::vector<std::string> const& head,
                        std::vector<std::vector<std::string>> const& rows) {
    if (rows.empty()) return;
    page.out.text("h3", {}, name);
    page.table(head, rows, name, true);
  };
  std::vector<std::vector<std::string>> plugins, inputs, libraries;
  for (auto const& p : study.plugins) plugins.push_back({p.name, p.version, p.origin, ellipsize(p.sha256, 17)});
  for (auto const& i : study.inputs)
    inputs.push_back({i.name, i.kind, grouped(i.bytes), i.licence, ellipsize(i.sha256, 17)});
  for (auto const& l : study.libraries) libraries.push_back({l.name, l.version});
  list("Plugins", {"name", "version", "origin", "SHA-256"}, plugins);
  list("Inputs", {"name", "kind", "bytes", "licence", "SHA-256"}, inputs);
  list("Libraries", {"name", "version"}, libraries);
  if (!study.diff.empty()) page.fold("Uncommitted changes", "", [&] { page.code(study.diff); });
}

void spec_section(Page& page) {
  auto const& study = page.study;
  if (study.spec_source.empty() && study.spec_resolved.empty()) return;
  auto const scope = page.section("spec", "Spec");
  if (!study.spec_source.empty()) page.fold("As given", "", [&] { page.code(study.spec_source); });
  if (!study.spec_resolved.empty())
    page.fold("Resolved", "every default filled in", [&] { page.code(study.spec_resolved); });
}

void sources_section(Page& page) {
  std::vector<std::string> list = page.study.sources;
  for (auto const& plugin : page.study.plugins) {
    std::string const entry = cat({plugin.name, ": ", plugin.source});
    if (!plugin.source.empty() && std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  }
  if (list.empty()) return;
  auto const scope = page.section("sources", "Sources");
  auto const element = page.out.element("ol", {{"class", "sources"}});
  for (auto const& each : list) page.out.text("li", {}, each);
}

}  // namespace sextant::report
