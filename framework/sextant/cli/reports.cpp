// compare, check, report, plot: what a study says.
#include <sextant/base/file.hpp>
#include <sextant/claims/judge.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/extend/claims.hpp>
#include <sextant/report/claims.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/learning.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/published.hpp>
#include <sextant/report/reach.hpp>
#include <sextant/report/table.hpp>
#include <sextant/results/file.hpp>
#include <sextant/spec/claims.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace sextant::cli {
namespace {
void put_text(std::string const& text, std::string const& output) {
  if (output.empty() || output == "-")
    fmt::print("{}", text);
  else {
    write_file_atomically(output, text);
    fmt::print(stderr, "{}\n", fs::absolute(output).lexically_normal().string());
  }
}

/// A table that is formed of a study's numbers. Throws Error where it has none, or where the format is for tables of cells.
std::string derived(report::StudyView const& study, std::string const& table, std::string const& wanted,
                    report::Format format) {
  bool const reach = table == "reach";
  std::string const baseline = wanted.empty() ? report::default_baseline(study) : wanted;
  std::vector<std::string> arms;
  for (auto const& arm : report::arms_of(study)) arms.push_back(arm.label());
  expect(std::find(arms.begin(), arms.end(), baseline) != arms.end(), "compare: no arm \"", baseline,
         "\" to be the baseline", did_you_mean(baseline, arms));
  auto const made = reach ? report::reach_table(study) : report::learning_table(study, baseline);
  expect(!made.rows.empty(), study.file, ": no table of ", table, "; expected ",
         reach ? "a loss at the trained length and beyond it"
               : text("training curves of ", baseline, " and of an arm that learnt from the same data"));
  expect(format != report::Format::csv, "compare: --table ", table,
         " is no CSV; expected terminal, markdown, latex or json");
  if (format == report::Format::json) return reach ? report::reach_json(study) : report::learning_json(study, baseline);
  return report::render(made, format, report::terminal_look(STDOUT_FILENO));
}

CLI::Option const* takes_format(CLI::App* command) {
  return command->add_option("--format", "terminal (default), markdown, csv, latex or json")->type_name("FORMAT");
}

/// What --format and --json say together. Throws Error where they contradict one another.
report::Format format_of(CLI::Option const& option, std::string const& command, Context const& context) {
  auto const format = report::format_from(option.count() > 0 ? option.as<std::string>() : "terminal");
  if (!context.json) return format;
  expect(option.count() == 0 || format == report::Format::json, command, ": --json and --format ",
         option.as<std::string>(), " are two formats: give one");
  return report::Format::json;
}

/// Throws Error when an option was given that says nothing about this table.
void refuse_beside(CLI::Option const& option, std::string const& table) {
  expect(option.count() == 0, "compare: ", option.get_name(), " says nothing about --table ", table,
         "; expected it with --table ", option.get_name() == "--baseline" ? "results or learning" : "results");
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  struct Arguments {
    std::vector<std::string> files;
    std::string by = "arm", table = "results";
    report::CompareOptions options;
  };
  auto* const command =
      add_command(app, "compare", "Means, intervals, paired differences and p-values, side by side",
                  {"compare results/quickstart --by encoding --baseline rope",
                   "compare a/study.h5 b/study.h5 --format markdown", "compare results/quickstart --table reach"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("study", a->files, "study files or folders")->required();
  std::vector<CLI::Option const*> const cells{
      // what chooses the cells of the table `results`
      command->add_option("--by", a->by, "arm (default), encoding or scaling"),
      command->add_option("--probe", a->options.probe, "which measurement (default: the first)"),
      command->add_option("--region", a->options.region, "part of the window, e.g. mean or tail64"),
      command->add_option("--metric", a->options.metric, "e.g. loss")};
  auto const* const baseline =
      command->add_option("--baseline", a->options.baseline, "arm that the others are compared with");
  command->add_option("--table", a->table,
                      "results (default), reach (effective length of each arm) or learning (steps to the baseline's "
                      "training loss)");
  auto const* const format_option = takes_format(command);
  takes_json(command, context);
  command->callback([a, cells, baseline, format_option, &context] {
    std::vector<report::StudyView> studies;
    for (auto const& given : a->files) {
      auto const file = study_file(given);
      studies.push_back(report::load_study(file));
      for (std::size_t n = 0; n + 1 < studies.size(); ++n)
        expect(!fs::equivalent(file, studies[n].file), "compare: ", given, " is given twice, expected each study once");
    }
    a->options.by = report::by_from(a->by);
    auto const format = format_of(*format_option, "compare", context);
    std::vector<std::string> const known{"results", "reach", "learning"};
    expect(std::find(known.begin(), known.end(), a->table) != known.end(), "compare: no table \"", a->table, "\"",
           did_you_mean(a->table, known));
    if (a->table != "results") {
      expect(studies.size() == 1, "compare: --table ", a->table, " is of one study, ", studies.size(), " were given");
      for (auto const* option : cells) refuse_beside(*option, a->table);
      if (a->table == "reach") refuse_beside(*baseline, a->table);
      return fmt::print("{}", derived(studies.front(), a->table, a->options.baseline, format));
    }
    fmt::print("{}",
               report::render(report::compare(studies, a->options), format, report::terminal_look(STDOUT_FILENO)));
  });
}

namespace {
/// Those of a file, or of the study itself.
claims::Claims claims_for(results::Group const& study, fs::path const& file, std::string const& from,
                          Context& context) {
  if (!from.empty())
    return extend::about_documents(
        spec::load_claims(from, extend::claimable(study, file.string()), catalogue_of(context.registry())),
        extend::tuned_in(study));
  expect(study.has_group("summary/claims"), file.string(), ": makes no claims; expected a spec with `claims:`");
  return claims::claims_of(claims::from_group(study.group("summary/claims")));
}
}  // namespace

void add_check(CLI::App& app, Context& context) {
  struct Arguments {
    std::string file, claims;
    bool strict = false, keep = false;
  };
  auto* const command = add_command(app, "check", "The verdict of every claim of a study",
                                    {"check results/quickstart", "check study.h5 --strict --json",
                                     "check results/extend-model-to-8192-yarn-x2 --claims claims.yaml --keep"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("study", a->file, "a study file or folder")->required();
  auto const* const format_option = takes_format(command);
  command->add_flag("--strict", a->strict, "exit with status 4 unless every claim holds");
  auto* const file_of_claims = command->add_option(
      "--claims", a->claims,
      "judge a study of `extend` or `search` by the block `claims:` of this file, in place of its own");
  command->add_flag("--keep", a->keep, "write these claims and their verdicts into the study")->needs(file_of_claims);
  takes_json(command, context);
  command->callback([a, format_option, &context] {
    auto const format = format_of(*format_option, "check", context);
    fs::path const file = study_file(a->file);
    results::Group study = results::read_file(file);
    auto const judgement = claims::judge(claims_for(study, file, a->claims, context), study);
    if (a->keep) {
      study["summary"]["claims"] = claims::to_group(judgement);
      results::write_file(file, study);
    }
    fmt::print("{}", report::render(judgement, format, report::terminal_look(STDOUT_FILENO)));
    bool const all = std::all_of(judgement.outcomes.begin(), judgement.outcomes.end(),
                                 [](auto const& each) { return each.verdict == claims::Verdict::holds; });
    if (a->strict && !all) context.code = unproven;
  });
}

void add_report(CLI::App& app, Context&) {
  struct Arguments {
    std::string file, output;
    bool markdown = false, latex = false, csv = false, reference = false;
  };
  auto* const command =
      add_command(app, "report", "The report page of a study, or its table as Markdown, LaTeX or CSV",
                  {"report results/quickstart", "report study.h5 --md", "report study.h5 -o page.html"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("study", a->file, "a study file or folder")->required();
  command->add_option("-o,--output", a->output,
                      "where to write (default: report.html beside the study; tables: stdout)");
  auto* const md = command->add_flag("--md", a->markdown, "the table as Markdown");
  auto* const latex = command->add_flag("--latex", a->latex, "the table as LaTeX")->excludes(md);
  command->add_flag("--csv", a->csv, "the numbers as CSV")->excludes(md)->excludes(latex);
  command->add_flag(
      "--reference", a->reference,
      "published numbers beside ours alone, where the spec keeps some; with --md, --latex, --csv or as text");
  command->callback([a] {
    fs::path const file = study_file(a->file);
    auto const study = report::load_study(file);
    auto const format = a->markdown ? report::Format::markdown
                        : a->latex  ? report::Format::latex
                        : a->csv    ? report::Format::csv
                                    : report::Format::terminal;
    if (a->reference) {
      put_text(report::render_published(study, format, report::terminal_look(STDOUT_FILENO)), a->output);
    } else if (format != report::Format::terminal) {
      report::CompareOptions options;
      options.baseline = report::default_baseline(study);
      std::string out = report::render(report::compare(study, options), format);
      if (study.claims && !a->csv) out = report::render(*study.claims, format) + "\n" + out;
      if (!a->csv)
        for (auto const& table :
             {report::reach_table(study), report::learning_table(study, report::default_baseline(study))})
          if (!table.rows.empty()) out += "\n" + report::render(table, format);
      if (!study.published.empty() && !a->csv) out += "\n" + report::render_published(study, format);
      put_text(out, a->output);
    } else {
      put_text(report::html_report(study),
               a->output.empty() ? (file.parent_path() / "report.html").string() : a->output);
    }
  });
}

void add_plot(CLI::App& app, Context&) {
  struct Arguments {
    std::string file, name, output;
    bool list = false;
  };
  auto* const command =
      add_command(app, "plot", "One plot of a study as an SVG file",
                  {"plot results/quickstart extrapolation -o extrapolation.svg", "plot results/quickstart --list"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("study", a->file, "a study file or folder")->required();
  auto* const name = command->add_option("name", a->name, "which plot; see --list");
  auto* const output = command->add_option("-o,--output", a->output, "file to write (default: stdout)");
  command->add_flag("--list", a->list, "print the plots and whether this study has data for them")
      ->excludes(name)
      ->excludes(output);
  command->callback([a] {
    auto const study = report::load_study(study_file(a->file));
    if (a->list) {
      fmt::print("{}", report::plot_list(&study));
      return;
    }
    std::vector<std::string> names;
    for (auto const& plot : report::plots()) names.push_back(plot.name);
    expect(!a->name.empty(), "plot: which one? ", join(names));
    put_text(report::plot_svg(study, a->name), a->output);
  });
}

}  // namespace sextant::cli
