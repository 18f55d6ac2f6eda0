// validate, plan, run, status: from a spec to a study.
#include <sextant/base/file.hpp>
#include <sextant/base/kokkos.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/study.hpp>
#include <sextant/doctor/files.hpp>
#include <sextant/report/claims.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/load.hpp>
#include <sextant/results/file.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <sextant/base/json.hpp>

namespace sextant::cli {
namespace {

/// The spec that a study folder was made from.
fs::path kept_spec(fs::path const& folder) { return folder / "spec.yaml"; }

/// Keeps the spec beside the results, and refuses a folder that holds another study.
void keep_spec(fs::path const& folder, spec::Spec const& spec) {
  fs::path const file = kept_spec(folder);
  std::error_code none;
  if (fs::exists(file, none)) {
    std::string const head = "\nstudy: " + spec.study + "\n";
    std::string const kept = "\n" + read_file(file);
    expect(kept.find(head) != std::string::npos, folder.string(), ": holds another study (see ", file.string(),
           "), expected ", spec.study, ": choose another folder with -o");
  }
  write_file_atomically(file, spec.resolved);
}

/// A study file of other stages (another spec, text or plugin), or one that cannot be read, is kept under another name.
void keep_old_study(fs::path const& study, spec::Spec const& spec, plan::Plan const& plan,
                    results::Store const& store) {
  std::error_code none;
  if (!fs::exists(study, none)) return;
  std::string why = "shows other stages", mark;
  try {
    mark = run::digest_of_file(study).plan;
    if (mark == run::digest_of(plan, store, spec).plan) return;
  } catch (Error const& error) {
    why = text("cannot be read (", error.what(), ")");
    mark = sha256_file(study);
  }
  set_aside(study, mark, why);
}

int run_study(SpecArguments const& arguments, run::RunOptions const& options, Context& context) {
  Carried const carried = carry_out(arguments, options, context);
  auto const& outcome = carried.outcome;
  if (outcome.stopped) return stopped;
  auto const study = report::load_study(outcome.study_file);
  if (!study.rows.empty()) fmt::print("{}", report::terminal_table(study, STDOUT_FILENO));
  if (study.claims)
    fmt::print("\n{}", report::render(*study.claims, report::Format::terminal, report::terminal_look(STDOUT_FILENO)));
  fmt::print("\n{} of {} stages done now, {} found done", outcome.done, carried.stages, outcome.repeated);
  if (outcome.taken) fmt::print(", {} taken from other studies", outcome.taken);
  fmt::print("\n");
  fmt::print("study   {}\nreport  {}\n", fs::absolute(outcome.study_file).lexically_normal().string(),
             fs::absolute(carried.page).lexically_normal().string());
  print_failures(stdout, outcome.failures);
  return carried.code();
}

// What --from adds to a plan.
void add_seeds(std::string& out, spec::Spec const& spec, std::string const& from, double power, bool json) {
  expect(!spec.claims.empty(), spec.file, ": makes no claims, expected some to plan seeds for with --from");
  auto const plans = claims::plan_seeds(spec.claims, results::read_file(study_file(from)), power);
  if (!json) {
    out += "\n" + report::to_terminal(report::seeds_table(plans), report::terminal_look(STDOUT_FILENO));
    return;
  }
  auto whole = nlohmann::json::parse(out);
  whole["seeds"] = nlohmann::json::parse(report::seeds_json(plans));
  out = whole.dump(2) + "\n";
}

int print_status(std::string const& given, Context& context) {
  fs::path folder = given;
  if (folder.filename() == "study.h5") folder = folder.parent_path();
  expect(fs::exists(kept_spec(folder)), given, ": is not the folder of a study: it holds no spec.yaml");
  auto& registry = context.registry();
  SpecArguments arguments{.path = kept_spec(folder).string()};
  plan::Plan const plan = plan_of(read_spec(arguments, registry), registry, context.threads);
  results::Store const store(folder);
  nlohmann::json json{{"study", plan.study}, {"stages", nlohmann::json::array()}};
  std::map<std::string, int> count;
  std::vector<std::string> lines;
  auto const add = [&](std::string const& id, std::string const& what) {
    std::string const status = store.status(id);
    std::string const message = store.failure(id).value_or("");
    ++count[status];
    json["stages"].push_back({{"id", id}, {"what", what}, {"status", status}, {"message", message}});
    if (status == "running" || status == "failed")
      lines.push_back(fmt::format("  {:<8} {}  {}", status, what, message));
  };
  for (auto const& s : plan.train) add(s.id, fmt::format("train {} seed {}", s.arm, s.seed));
  for (auto const& s : plan.evaluate)
    add(s.id, fmt::format("{} {} seed {}: {} at {}", s.arm, s.view, s.seed, s.evaluation.name, s.length));
  if (context.json) {
    for (auto const& [status, n] : count) json["count"][status] = n;
    fmt::print("{}\n", json.dump(2));
    return done;
  }
  fmt::print("{}: {} of {} stages done, {} running, {} failed, {} to do\n", plan.study, count["done"],
             plan.train.size() + plan.evaluate.size(), count["running"], count["failed"], count["planned"]);
  for (auto const& line : lines) fmt::print("{}\n", line);
  return done;
}

}  // namespace

void print_failures(std::FILE* to, std::vector<run::Failure> const& failures) {
  if (failures.empty()) return;
  fmt::print(to, "\n{} stage{} failed:\n", failures.size(), failures.size() == 1 ? "" : "s");
  for (auto const& failure : failures) fmt::print(to, "  {}  {}: {}\n", failure.stage, failure.what, failure.message);
}

Carried carry_out(SpecArguments const& arguments, run::RunOptions options, Context& context) {
  auto& registry = context.registry();
  spec::Spec const spec = read_spec(arguments, registry);
  options.folder = folder_of(arguments, spec);
  options.cache = tasks::default_cache();
  options.command_line = context.command_line;
  plan::Plan const plan = plan_of(spec, registry, context.threads);
  results::Store const store(options.folder);
  for (auto const& note : plan.notes) fmt::print(stderr, "note: {}\n", note);
  plan::expect_fits(plan, [&](std::string const& id) { return store.done(id); });
  run::expect_arm(spec, options.only);
  keep_spec(options.folder, spec);
  keep_old_study(store.study_file(), spec, plan, store);

  run::catch_signals();
  Carried out;
  out.stages = plan.train.size() + plan.evaluate.size();
  {
    Session const kokkos(context.threads);
    out.outcome = run::run_plan(Exec(), spec, plan, registry, options);
    if (out.outcome.gflops > 0) remember_gflops(out.outcome.gflops, concurrency());
  }
  if (out.outcome.stopped) {
    fmt::print(stderr, "stopped; the same command goes on from here\n");
    return out;
  }
  out.page = options.folder / "report.html";
  write_file_atomically(out.page, report::html_report(report::load_study(out.outcome.study_file)));
  return out;
}

void add_validate(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "validate", "Check a spec and print it with every default filled in",
                                    {"validate experiments/quickstart", "validate spec.yaml --set train.steps=50"});
  auto const arguments = takes_spec(command);
  takes_json(command, context);
  command->callback([arguments, &context] {
    auto& registry = context.registry();
    spec::Spec const spec = read_spec(*arguments, registry);
    plan::Plan const plan = plan_of(spec, registry, context.threads);
    Session const kokkos(context.threads);
    auto const diagnosis = doctor::diagnose_spec(spec, {}, registry);
    if (context.json)
      fmt::print("{}\n", nlohmann::json{{"study", spec.study},
                                        {"tier", spec.tier},
                                        {"resolved", spec.resolved},
                                        {"train_stages", plan.train.size()},
                                        {"evaluate_stages", plan.evaluate.size()},
                                        {"notes", plan.notes},
                                        {"findings", doctor::diagnosis_json(diagnosis)["findings"]}}
                             .dump(2));
    else {
      fmt::print("{}", spec.resolved);
      for (auto const& note : plan.notes) fmt::print(stderr, "note: {}\n", note);
      for (auto const& found : diagnosis.findings)
        fmt::print(stderr, "note: {}: {}: {}; {}\n", found.place, found.check, found.evidence, found.remedy);
      fmt::print(stderr, "{} is valid: {} models to train, {} measurements\n", spec.file, plan.train.size(),
                 plan.evaluate.size());
    }
  });
}

void add_plan(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "plan", "What a run would do: stages, parameters, FLOP, bytes, minutes",
                                    {"plan experiments/quickstart", "plan experiments/quickstart --tier smoke --json",
                                     "plan experiments/quickstart --from results/quickstart"});
  auto const arguments = takes_spec(command);
  takes_folder(command, *arguments);
  auto const from = std::make_shared<std::string>();
  auto* const from_option =
      command->add_option("--from", *from, "a study file or folder whose scatter says how many seeds the claims need");
  from_option->type_name("STUDY");
  auto const power = std::make_shared<double>(0.8);
  command->add_option("--power", *power, "with --from: chance of showing a claim that is true (default 0.8)")
      ->check(between(0.05, 0.99))
      ->needs(from_option);
  takes_json(command, context);
  command->callback([arguments, from, power, &context] {
    auto& registry = context.registry();
    spec::Spec const spec = read_spec(*arguments, registry);
    plan::Plan const plan = plan_of(spec, registry, context.threads);
    results::Store const store(folder_of(*arguments, spec));
    auto const is_done = [&](std::string const& id) { return store.done(id); };
    std::string out = context.json ? plan_json(plan, is_done) : plan_text(plan, is_done);
    if (!from->empty()) add_seeds(out, spec, *from, *power, context.json);
    fmt::print("{}", out);
    std::fflush(stdout);
    plan::expect_fits(plan, is_done);
  });
}

void add_run(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "run", "Train and measure what a spec says; go on where an earlier run stopped",
      {"run experiments/quickstart", "run experiments/quickstart --tier smoke -o /tmp/smoke",
       "run spec.yaml --only alibi --set train.seeds=[11]", "run experiments/order --reuse results/extrapolation"});
  auto const arguments = takes_spec(command);
  takes_folder(command, *arguments);
  auto const options = std::make_shared<run::RunOptions>();
  command->add_option("--only", options->only, "carry out this arm alone")->type_name("ARM");
  auto const reuse = std::make_shared<std::vector<std::string>>();
  command->add_option("--reuse", *reuse, "studies whose finished stages are taken over (may be repeated)")
      ->type_name("STUDY");
  command->add_flag("--fail-fast", options->fail_fast, "stop at the first failure");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([arguments, options, reuse, &context] {
    for (auto const& study : *reuse) {
      options->reuse.push_back(study_file(study).parent_path());
      expect(fs::is_directory(options->reuse.back() / "stages"), study,
             ": holds no finished stages, expected the folder of a study that has run");
    }
    context.code = run_study(*arguments, *options, context);
  });
}

void add_status(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "status", "How far a study is, also while another process runs it",
                                    {"status results/quickstart", "status results/quickstart --json"});
  auto const folder = std::make_shared<std::string>();
  command->add_option("study", *folder, "the folder of a study, or its study.h5")->required();
  takes_json(command, context);
  command->callback([folder, &context] { context.code = print_status(*folder, context); });
}

}  // namespace sextant::cli
