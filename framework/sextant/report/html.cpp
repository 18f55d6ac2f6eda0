#include <sextant/base/error.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/html_assets.hpp>
#include <sextant/report/html_tables.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::report {
namespace {
constexpr char const* policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
constexpr char const* icon =
    "data:image/svg+xml;base64,"
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+"
    "PHBhdGggZD0iTTIgMTNBMTIgMTIgMCAwIDEg"
    "MTQgMTMiIGZpbGw9Im5vbmUiIHN0cm9rZT0iIzAwNzJiMiIgc3Ryb2tlLXdpZHRoPSIyLjUiLz48cGF0aCBkPSJNOCAydjEwIiBzdHJva2U9IiNkNT"
    "Vl"
    "MDAiIHN0cm9rZS13aWR0aD0iMi41Ii8+PC9zdmc+";

struct Heading {
  std::string id, title;
};

class Page {
 public:
  explicit Page(StudyView const& study) : study_(study), arms_(arms_of(study)), looks_(arms_) {
    if (study.rows.empty()) return;
    CompareOptions options;
    options.baseline = default_baseline(study);
    comparison_ = compare(study, options);
  }

  std::string write() {
    Xml body;
    {
      auto const main = body.element("main", {{"id", "main"}});
      out_ = &body;
      header();
      results();
      plots_section();
      differences();
      other_measures();
      arms();
      failures();
      provenance();
      spec();
      sources();
      footer();
    }
    Xml page;
    page.raw("<!DOCTYPE html>\n");
    {
      auto const html = page.element("html", {{"lang", "en"}});
      head(page);
      auto const element = page.element("body");
      bar(page);
      page.raw(body.str());
      page.raw("<script>");
      page.raw(page_script());
      page.raw("</script>");
    }
    page.line();
    return std::move(page).str();
  }

 private:
  std::string title() const {
    return study_.question.empty() ? (study_.title.empty() ? study_.name : study_.title) : study_.question;
  }

  void head(Xml& page) {
    auto const element = page.element("head");
    page.void_element("meta", {{"charset", "utf-8"}});
    page.void_element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    page.void_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
    page.void_element("meta", {{"name", "generator"}, {"content", study_.creator}});
    page.text("title", {}, cat({study_.title.empty() ? study_.name : study_.title, " – Sextant"}));
    page.void_element("link", {{"rel", "icon"}, {"href", icon}});
    page.raw("<style>");
    page.raw(page_css());
    page.raw("</style>");
  }

  void bar(Xml& page) {
    page.text("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the report");
    auto const bar = page.element("div", {{"class", "bar"}});
    auto const inner = page.element("div", {{"class", "bar-in"}});
    page.text("span", {{"class", "brand"}}, "Sextant");
    {
      auto const nav = page.element("nav", {{"aria-label", "Sections"}});
      for (auto const& heading : headings_) page.text("a", {{"href", "#" + heading.id}}, heading.title);
    }
    page.text("button", {{"id", "theme"}, {"type", "button"}, {"hidden", ""}}, "Dark");
  }

  [[nodiscard]] Xml::Scope section(std::string const& id, std::string const& name, std::string const& lead = "") {
    headings_.push_back({id, name});
    auto scope = out_->element("section", {{"id", id}, {"aria-labelledby", id + "-h"}});
    out_->text("h2", {{"id", id + "-h"}}, name);
    if (!lead.empty()) out_->text("p", {{"class", "lead"}}, lead);
    return scope;
  }

  // A list of facts; empty values are left out.
  void facts(Facts const& list) {
    auto const dl = out_->element("dl", {{"class", "facts"}});
    for (auto const& [name, value] : list) {
      if (value.empty()) continue;
      out_->text("dt", {}, name);
      out_->text("dd", {}, value);
    }
  }

  // <details> whose content `fill` writes.
  template <class Fill>
  void fold(std::string const& name, std::string const& side, Fill const& fill) {
    auto const details = out_->element("details");
    {
      auto const summary = out_->element("summary");
      out_->text(name);
      if (!side.empty()) out_->text("span", {{"class", "side"}}, side);
    }
    auto const div = out_->element("div");
    fill();
  }

  void code(std::string const& content) { out_->text("pre", {{"tabindex", "0"}}, content); }

  void header() {
    auto const header = out_->element("header");
    std::string const kicker = study_.question.empty() || study_.title.empty() ? study_.name : study_.title;
    out_->text("p", {{"class", "kicker"}}, kicker);
    out_->text("h1", {}, title());
    auto const findings = findings_of(comparison_);
    if (!findings.empty()) {
      auto const list = out_->element("ul", {{"class", "findings"}});
      for (auto const& finding : findings) out_->text("li", {}, finding);
    }
    auto const dl = out_->element("dl", {{"class", "meta"}});
    auto const fact = [&](char const* name, std::string const& value) {
      if (value.empty()) return;
      auto const div = out_->element("div");
      out_->text("dt", {}, name);
      out_->text("dd", {}, value);
    };
    fact("arms", std::to_string(arms_.size()));
    fact("seeds", std::to_string(seeds_of(study_).size()));
    if (study_.trained_length) fact("trained at", cat({grouped(*study_.trained_length), " tokens"}));
    fact("tier", study_.tier);
    fact("finished runs", cat({std::to_string(count("done")), " of ", std::to_string(study_.runs.size())}));
    fact("written", study_.created);
  }

  std::size_t count(std::string const& status) const {
    return static_cast<std::size_t>(std::count_if(study_.runs.begin(), study_.runs.end(),
                                                  [&](RunView const& run) { return run.status == status; }));
  }

  void results() {
    auto const scope = section("results", "Result");
    if (study_.rows.empty()) return out_->text("p", {}, "No run has been measured yet.");
    out_->text("p", {{"class", "lead"}}, results_table(comparison_).title + ".");
    results_html(*out_, comparison_, looks_);
    data("Data of this table", study_.name + "-results.csv", comparison_csv(comparison_));
  }

  void data(std::string const& name, std::string const& file, std::string const& csv) {
    fold(name, "CSV", [&] {
      out_->text("a", {{"download", file}, {"href", "data:text/csv;charset=utf-8;base64," + base64(csv)}},
                 cat({"Download ", file}));
      code(csv);
    });
  }

  void plots_section() {
    std::vector<Chart> charts;
    for (auto const& plot : plots())
      if (auto chart = plot.make(study_, looks_)) charts.push_back(std::move(*chart));
    if (charts.empty()) return;
    auto const scope = section("plots", "Plots");
    for (auto const& chart : charts) {
      auto const figure = out_->element("figure", {{"id", "plot-" + chart.id}});
      out_->text("h3", {}, chart.title);
      {
        auto const plot = out_->element("div", {{"class", "plot"}});
        out_->raw(svg_inline(chart, Layout::wide));
        out_->raw(svg_inline(chart, Layout::narrow));
      }
      {
        auto const caption = out_->element("figcaption");
        out_->text("b", {}, "How to read this. ");
        out_->text(chart.caption);
        for (auto const& note : chart.notes) out_->text(cat({" ", note}));
      }
      data("Data behind this plot", cat({study_.name, "-", chart.id, ".csv"}), chart_csv(chart));
    }
  }

  void differences() {
    bool const any = std::any_of(comparison_.rows.begin(), comparison_.rows.end(),
                                 [](ComparisonRow const& row) { return !row.baseline.empty(); });
    if (!any) return;
    std::string const base = default_baseline(study_);
    auto const scope = section(
        "differences", "Differences",
        cat({"Each arm minus ", base,
             ", seed by seed: the same seed means the same data in the same "
             "order, so the difference is steadier than either value. ",
             comparison_.lower_is_better ? "Negative is better than " : "Positive is better than ", base, "."}));
    differences_html(*out_, comparison_);
  }

  // Tables of whatever else was measured, folded.
  void other_measures() {
    std::vector<Quantity> others;
    for (auto const& quantity : quantities_of(study_))
      if (!(quantity == comparison_.quantity)) others.push_back(quantity);
    if (others.empty()) return;
    auto const scope = section("measures", "Other measures");
    for (auto const& quantity : others) {
      CompareOptions options;
      options.probe = quantity.probe;
      options.region = quantity.region;
      options.metric = quantity.metric;
      Comparison const comparison = compare(study_, options);
      fold(cat({quantity.probe, ", ", quantity.region, " ", quantity.metric}), comparison.units,
           [&] { results_html(*out_, comparison, looks_); });
    }
  }

  void arms() {
    auto const scope = section("arms", "Arms");
    for (auto const& arm : arms_) {
      std::vector<RunView const*> runs;
      for (auto const& run : study_.runs)
        if (Arm{run.encoding, run.scaling} == arm) runs.push_back(&run);
      auto const details = out_->element("details");
      {
        auto const summary = out_->element("summary");
        out_->raw(swatch(looks_.of(arm)));
        out_->text(arm.label());
        out_->text("span", {{"class", "side"}}, arm_side(runs));
      }
      auto const div = out_->element("div");
      seed_table(arm);
      run_table(runs);
      if (!runs.empty() && !runs.front()->config.empty()) {
        out_->text("h3", {}, cat({"Settings of run ", runs.front()->id}));
        facts(runs.front()->config);
      }
    }
  }

  static double last_loss(RunView const& run) { return run.train.loss.empty() ? std::nan("") : run.train.loss.back(); }
  static double mean_speed(RunView const& run) {
    std::vector<double> finite;
    for (double const speed : run.train.speed)
      if (std::isfinite(speed)) finite.push_back(speed);
    return finite.empty() ? std::nan("") : mean(finite);
  }

  std::string arm_side(std::vector<RunView const*> const& runs) const {
    if (runs.empty()) return "";
    std::vector<double> speed, seconds;
    for (auto const* run : runs) {
      if (!run->train.wall.empty()) seconds.push_back(run->train.wall.back());
      speed.push_back(mean_speed(*run));
    }
    std::string out = cat({std::to_string(runs.size()), runs.size() == 1 ? " run" : " runs"});
    if (auto const s = summarize(speed); s.mean) out += cat({", ", grouped(std::llround(*s.mean)), " tokens/s"});
    if (auto const s = summarize(seconds); s.mean) out += cat({", ", duration(*s.mean), " of training each"});
    return out;
  }

  void seed_table(Arm const& arm) {
    auto const row = std::find_if(comparison_.rows.begin(), comparison_.rows.end(),
                                  [&](ComparisonRow const& each) { return each.arm == arm; });
    if (row == comparison_.rows.end()) return;
    auto const scroll = out_->element("div", {{"class", "scroll"}, {"tabindex", "0"}});
    auto const table = out_->element("table");
    {
      auto const head = out_->element("thead");
      auto const tr = out_->element("tr");
      out_->text("th", {{"scope", "col"}}, "seed");
      for (auto const length : comparison_.lengths) out_->text("th", {{"scope", "col"}}, grouped(length));
    }
    auto const body = out_->element("tbody");
    for (auto const seed : comparison_.seeds) {
      auto const tr = out_->element("tr");
      out_->text("th", {{"scope", "row"}}, std::to_string(seed));
      for (auto const& cell : row->cells) {
        auto const at = std::find(cell.seeds.begin(), cell.seeds.end(), seed);
        if (at == cell.seeds.end()) {
          out_->text("td", {{"class", "none"}}, missing);
          continue;
        }
        double const value = cell.values[static_cast<std::size_t>(at - cell.seeds.begin())];
        out_->text("td", {}, std::isfinite(value) ? fixed(value, decimals_for(value) + 1) : "not finite");
      }
    }
  }

  void run_table(std::vector<RunView const*> const& runs) {
    if (runs.empty()) return;
    auto const scroll = out_->element("div", {{"class", "scroll"}, {"tabindex", "0"}});
    auto const table = out_->element("table");
    {
      auto const head = out_->element("thead");
      auto const tr = out_->element("tr");
      for (char const* const name : {"run", "seed", "status", "last training loss", "tokens/s", "weights from"})
        out_->text("th", {{"scope", "col"}}, name);
    }
    auto const body = out_->element("tbody");
    for (auto const* run : runs) {
      auto const tr = out_->element("tr");
      {
        auto const th = out_->element("th", {{"scope", "row"}});
        out_->text("code", {}, run->id);
      }
      out_->text("td", {}, std::to_string(run->seed));
      out_->text("td", {}, run->status);
      out_->text("td", {}, fixed(last_loss(*run), 3));
      double const speed = mean_speed(*run);
      out_->text("td", {}, std::isfinite(speed) ? grouped(std::llround(speed)) : std::string(missing));
      out_->text("td", {}, run->parents.empty() ? std::string(missing) : join(run->parents));
    }
  }

  void failures() {
    std::vector<RunView const*> failed, waiting;
    for (auto const& run : study_.runs) {
      if (run.status == "failed") failed.push_back(&run);
      if (run.status == "planned" || run.status == "running") waiting.push_back(&run);
    }
    if (failed.empty() && waiting.empty()) return;
    auto const scope = section("failures", failed.empty() ? "Unfinished runs" : "Failures");
    for (auto const* run : failed) {
      auto const div = out_->element("div", {{"class", "fail"}});
      out_->text(
          "b", {},
          cat({Arm{run->encoding, run->scaling}.label(), ", seed ", std::to_string(run->seed), ", run ", run->id}));
      out_->text("pre", {}, run->message.empty() ? "failed without a message" : run->message);
    }
    if (waiting.empty()) return;
    out_->text("p", {}, cat({std::to_string(waiting.size()), " runs were not finished when this page was written:"}));
    auto const list = out_->element("ul");
    for (auto const* run : waiting)
      out_->text(
          "li", {},
          cat({Arm{run->encoding, run->scaling}.label(), ", seed ", std::to_string(run->seed), ": ", run->status}));
  }

  template <class Row>
  void small_table(char const* name, std::vector<std::string> const& head, std::vector<Row> const& rows,
                   std::vector<std::string> (*cells)(Row const&)) {
    if (rows.empty()) return;
    out_->text("h3", {}, name);
    auto const scroll = out_->element("div", {{"class", "scroll"}, {"tabindex", "0"}});
    auto const table = out_->element("table");
    {
      auto const thead = out_->element("thead");
      auto const tr = out_->element("tr");
      for (auto const& each : head) out_->text("th", {{"scope", "col"}}, each);
    }
    auto const body = out_->element("tbody");
    for (auto const& row : rows) {
      auto const tr = out_->element("tr");
      for (auto const& each : cells(row)) out_->text("td", {}, each);
    }
  }

  void provenance() {
    auto const scope = section("provenance", "Provenance", "Where these numbers come from, as the runs recorded it.");
    Facts all{{"results file", study_.file}, {"written by", study_.creator}};
    all.insert(all.end(), study_.facts.begin(), study_.facts.end());
    facts(all);
    small_table<Plugin>("Plugins", {"name", "version", "origin", "SHA-256"}, study_.plugins, [](Plugin const& p) {
      return std::vector<std::string>{p.name, p.version, p.origin, ellipsize(p.sha256, 17)};
    });
    small_table<Input>("Inputs", {"name", "kind", "bytes", "licence", "SHA-256"}, study_.inputs, [](Input const& i) {
      return std::vector<std::string>{i.name, i.kind, grouped(i.bytes), i.licence, ellipsize(i.sha256, 17)};
    });
    small_table<Library>("Libraries", {"name", "version"}, study_.libraries, [](Library const& l) {
      return std::vector<std::string>{l.name, l.version};
    });
    if (!study_.diff.empty()) fold("Uncommitted changes", "", [&] { code(study_.diff); });
  }

  void spec() {
    if (study_.spec_source.empty() && study_.spec_resolved.empty()) return;
    auto const scope = section("spec", "Spec");
    if (!study_.spec_source.empty()) fold("As given", "", [&] { code(study_.spec_source); });
    if (!study_.spec_resolved.empty()) fold("Resolved", "every default filled in", [&] { code(study_.spec_resolved); });
  }

  void sources() {
    std::vector<std::string> list = study_.sources;
    for (auto const& plugin : study_.plugins) {
      std::string const entry = cat({plugin.name, ": ", plugin.source});
      if (!plugin.source.empty() && std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
    }
    if (list.empty()) return;
    auto const scope = section("sources", "Sources");
    auto const element = out_->element("ol", {{"class", "sources"}});
    for (auto const& each : list) out_->text("li", {}, each);
  }

  void footer() {
    auto const element = out_->element("footer");
    out_->text(
        cat({"Made by ", study_.creator.empty() ? "sextant" : study_.creator, " from ",
             fs::path(study_.file).filename().string(), ". This page needs no network: save it, mail it, print it."}));
  }

  StudyView const& study_;
  std::vector<Arm> arms_;
  Looks looks_;
  Comparison comparison_;
  std::vector<Heading> headings_;
  Xml* out_ = nullptr;
};
}  // namespace

std::string html_report(StudyView const& study) { return Page(study).write(); }

std::string terminal_table(StudyView const& study, int fd) {
  return to_terminal(results_table(compare(study)), terminal_look(fd));
}

}  // namespace sextant::report
