// search: divisors of frequencies found by LongRoPE's evolution, on a pretrained model or on a trained arm of a study.
#include <sextant/base/file.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/cli/subjects.hpp>
#include <sextant/extend/tables.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/search/exports.hpp>
#include <sextant/search/tables.hpp>
#include <sextant/spec/number.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

namespace sextant::cli {
namespace {
struct SearchArguments {
  std::string model, output, arm, to, objective = "loss", architecture;
  std::optional<std::int64_t> run_seed;
  Texts texts;
  int documents = 4, held_out = 4, tail = 512, depths = 4;
  int population = 16, parents = 0, mutations = 0, crossovers = 0;
  double step = 0.01;
  search::Settings settings;
  bool quiet = false;
};

/// A model, what is searched on, and what is measured on afterwards.
struct Case {
  extend::Subject subject;
  std::vector<extend::Document> documents, held_out;
  std::string architecture;  ///< that GGUF keys begin with; empty: not said
};

/// The last `held` are held out.
void divide(std::vector<extend::Document> all, int held, Case& out) {
  expect(static_cast<int>(all.size()) > held, "search: there are ", all.size(), " documents, and ", held,
         " are held out; expected at least one more to search on");
  auto const from = all.end() - held;
  out.documents.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(from));
  out.held_out.assign(std::make_move_iterator(from), std::make_move_iterator(all.end()));
}

int target_of(SearchArguments const& a, int trained) {
  return a.to.empty() ? 4 * trained : token_count(a.to, "search: --to");
}

Case pretrained_case(SearchArguments const& a, encoding::Registry const& registry) {
  auto const source = pretrained::open_source(pretrained::find_model(a.model, tasks::default_cache()), registry);
  auto const tokenizer = tokenizer_of(source, "search");
  Case out{subject_of(source, tokenizer, registry), {}, {}, source.description.family};
  Texts texts = a.texts;
  texts.documents = a.documents + a.held_out;
  int const target = target_of(a, out.subject.position.trained_length);
  divide(documents_of(texts, out.subject, *tokenizer, target, "search"), a.held_out, out);
  return out;
}

plan::TrainStage const& stage_of(SearchArguments const& a, plan::Plan const& plan) {
  std::vector<std::string> arms;
  for (auto const& stage : plan.train) {
    if (stage.arm == a.arm && (!a.run_seed || stage.seed == *a.run_seed)) return stage;
    if (stage.arm != a.arm) arms.push_back(stage.arm);
  }
  std::sort(arms.begin(), arms.end());
  arms.erase(std::unique(arms.begin(), arms.end()), arms.end());
  expect(!a.arm.empty(), "search: ", a.model, " is a study, expected --arm, one of ", join(arms));
  for (auto const& stage : plan.train)
    expect(stage.arm != a.arm, "search: the arm ", a.arm, " has no seed ", a.run_seed.value_or(0), ", expected ",
           stage.seed, " or another of its own");
  fail("search: the study has no arm ", a.arm, did_you_mean(a.arm, arms));
}

/// Stretches of a text that no model of the study was trained on, evenly spread, one token more than `target` each.
std::vector<extend::Document> stretches(std::vector<std::int32_t> const& text, std::string const& name, int count,
                                        int target) {
  std::size_t const length = static_cast<std::size_t>(target) + 1;
  std::size_t const most = text.size() / length;
  expect(most >= static_cast<std::size_t>(count), "search: the test text of ", name, " has ", text.size(),
         " tokens, expected at least ", static_cast<std::size_t>(count) * length, " for ", count, " documents of ",
         length, "; ask for fewer with --documents and --held-out");
  std::vector<extend::Document> out;
  for (int n = 0; n < count; ++n) {
    std::size_t const at = most / static_cast<std::size_t>(count) * static_cast<std::size_t>(n) * length;
    auto const from = text.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<std::int32_t> tokens(from, from + static_cast<std::ptrdiff_t>(length));
    std::string const bytes(reinterpret_cast<char const*>(tokens.data()), tokens.size() * sizeof(std::int32_t));
    out.push_back({sextant::text(name, " test from token ", at), sha256(bytes), std::move(tokens)});
  }
  return out;
}

/// Text to the tokens that a study's models read.
std::function<std::vector<std::int32_t>(std::string_view)> encoder_of(spec::Data const& data) {
  if (auto const tokenizer = run::tokenizer_of(data.tokens, tasks::default_cache()))
    return [tokenizer](std::string_view text) { return tokenizer->encode(text).ids; };
  return [](std::string_view bytes) {
    std::vector<std::int32_t> ids;
    for (char const c : bytes) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  };
}

Case study_case(SearchArguments const& a, Context& context) {
  auto const& registry = context.registry();
  fs::path const folder = a.model;
  plan::Plan const plan =
      plan_of(read_spec({.path = (folder / "spec.yaml").string()}, registry), registry, context.threads);
  auto const& stage = stage_of(a, plan);
  results::Store const store(folder);
  expect(store.done(stage.id), "search: the arm ", stage.arm, " of ", a.model, " with seed ", stage.seed,
         " is not trained yet; run the study first");
  Case out;
  out.subject.name = text(plan.study, "-", stage.arm, "-seed", stage.seed);
  out.subject.sha256 = stage.id;
  out.subject.position = stage.position;
  out.subject.position.trained_length = stage.train.length;
  out.subject.network = std::make_shared<run::Network>(run::make_network(stage, registry, model::Start::zero));
  model::load_parameters(run::weights_file(store, stage.id), *out.subject.network);
  out.subject.encode = encoder_of(stage.data);
  auto const text_of_study = run::load_text(stage.data, tasks::default_cache());
  auto const part = run::split_of(text_of_study, stage.data);
  divide(stretches(part.test, text_of_study.name, a.documents + a.held_out, target_of(a, stage.train.length)),
         a.held_out, out);
  return out;
}

search::Task task_of(SearchArguments const& a, Case const& c, encoding::Registry const& registry) {
  search::Settings s = a.settings;
  s.population = a.population;
  s.parents = a.parents > 0 ? a.parents : std::max(2, a.population / 2);
  s.mutations = a.mutations > 0 ? a.mutations : std::max(1, a.population / 4);
  s.crossovers = a.crossovers > 0 ? a.crossovers : std::max(1, a.population / 4);
  int const trained = c.subject.position.trained_length;
  return {.subject = c.subject,
          .documents = c.documents,
          .target = target_of(a, trained),
          .tail = std::min(a.tail, trained),
          .aim = search::aim_of(a.objective),
          .depths = a.depths,
          .step = a.step,
          .settings = s,
          .registry = registry};
}

/// Writes the winner in other programs' words beside the study, and says where.
void write_exports(search::Task const& task, search::Row const& winner, std::string const& architecture,
                   fs::path const& folder) {
  for (auto const& one : search::exports_of(task, winner, architecture)) {
    if (one.text.empty()) {
      fmt::print(stderr, "{}: not written: {}\n", one.file, one.why_not);
      continue;
    }
    write_file_atomically(folder / one.file, one.text);
    fmt::print(stderr, "{}\n", fs::absolute(folder / one.file).lexically_normal().string());
    for (auto const& sentence : one.remarks.lost) fmt::print(stderr, "  lost: {}\n", sentence);
  }
}

nlohmann::json facts_of_search(search::Task const& task, extend::Work const& measured) {
  auto out = facts_of(measured);
  auto const& s = task.settings;
  out["search"] = {{"target", task.target},      {"objective", search::name_of(task.aim)},
                   {"tail", task.tail},          {"depths", task.depths},
                   {"budget", s.budget},         {"population", s.population},
                   {"parents", s.parents},       {"mutations", s.mutations},
                   {"crossovers", s.crossovers}, {"chance", s.chance},
                   {"step", task.step},          {"seed", s.seed}};
  out["search"]["documents"] = names_of(task.documents);
  return out;
}

/// Lists for another length are another search.
std::string subject_name(search::Task const& task) { return text("search-", task.subject.name, "-to-", task.target); }
std::string study_name(search::Task const& task) {
  std::string const aim = task.aim == search::Aim::loss ? "" : text("-", search::name_of(task.aim));
  return text(subject_name(task), aim, "-seed", task.settings.seed);
}

void measure_and_publish(Exec const& exec, search::Task const& task, Case const& c, SearchArguments const& a,
                         std::vector<search::Course> const& courses, results::Store const& store,
                         std::string const& started, Context& context) {
  auto const arms = search::arms_of(task, courses);
  extend::Settings const settings{.lengths = {task.subject.position.trained_length, task.target},
                                  .tail = task.tail,
                                  .depths = task.aim == search::Aim::needle ? a.depths : 0,
                                  .rows = 0};
  settings.check(c.subject, c.held_out);
  extend::Work const work{c.subject, c.held_out, arms, settings, task.registry};
  auto const stages = extend::stages_of(work);
  to_the_end(context, [&] { extend::carry_out(exec, stages, store, a.quiet); });
  auto file = file_of({study_name(task), text(c.subject.name, ": divisors of frequencies for ", task.target, " tokens"),
                       "Which divisor does each frequency need, and how much does a search gain over published lists?",
                       facts_of_search(task, work).dump(2) + "\n", started},
                      work, stages, store, context);
  file["search"] = search::group_of(task, courses);
  auto tables = search::tables_of(file);
  for (auto& table : extend::tables_of(file)) {
    table.title = "Held out: " + table.title;
    tables.push_back(std::move(table));
  }
  publish(file, tables, store, context);
}

void run_search(SearchArguments const& a, Context& context) {
  Session const kokkos(context.threads);
  Exec const exec;
  std::string const started = results::now_iso8601();
  auto const& registry = context.registry();
  bool const own = fs::exists(fs::path(a.model) / "spec.yaml");
  expect(own || a.arm.empty(), "search: --arm goes with the folder of a study, and ", a.model, " holds no spec.yaml");
  expect(!own || (a.texts.files.empty() && a.texts.corpus.empty()),
         "search: a study's model is searched on the test text of its study, expected no --text and no --corpus");
  Case const c = own ? study_case(a, context) : pretrained_case(a, registry);
  auto const task = task_of(a, c, registry);
  results::Store const store(a.output.empty() ? default_folder(study_name(task)) : fs::path(a.output));
  expect_free(store, subject_name(task));
  run::catch_signals();
  std::vector<search::Course> courses;
  if (!to_the_end(context, [&] { courses = search::carry_out(exec, task, store, a.quiet); })) return;
  measure_and_publish(exec, task, c, a, courses, store, started, context);
  write_exports(task, courses.front().winner(), a.architecture.empty() ? c.architecture : a.architecture,
                store.folder());
}

void takes_numbers(CLI::App* command, SearchArguments& a) {
  auto const above_zero = CLI::Range(1, 1 << 20);
  command->add_option("--budget", a.settings.budget, "evaluations of each method (default 64)")->check(above_zero);
  command->add_option("--population", a.population, "of the first generation (default 16)")->check(above_zero);
  command->add_option("--parents", a.parents, "best ones that a generation is bred of (default: half the population)")
      ->check(above_zero);
  command->add_option("--mutations", a.mutations, "of a generation (default: a quarter of the population)")
      ->check(above_zero);
  command->add_option("--crossovers", a.crossovers, "of a generation (default: a quarter of the population)")
      ->check(above_zero);
  command->add_option("--chance", a.settings.chance, "that a gene mutates (default 0.3)")->check(between(0, 1));
  command->add_option("--step", a.step, "of factors (default 0.01)")->check(above(0));
  command->add_option("--seed", a.settings.seed, "of the search (default 1)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
}
}  // namespace

void add_search(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "search", "Search a divisor for every frequency of a trained model: LongRoPE's evolution, and its rivals",
      {"search smollm2 --corpus faq --to 32768 --budget 64",
       "search model.gguf --text a.txt b.txt c.txt d.txt --held-out 2 --to 16384 --objective needle",
       "search results/quickstart --arm rope --to 2048 --budget 200 --population 32"});
  auto const a = std::make_shared<SearchArguments>();
  command
      ->add_option("model", a->model,
                   "a GGUF file, a folder of config.json, safetensors and tokenizer.json, a "
                   "checkpoint, a known model, or the folder of a study")
      ->required();
  auto* const arm = command->add_option("--arm", a->arm, "of a study: the arm whose model is searched on");
  arm->type_name("ARM");
  command->add_option("--run-seed", a->run_seed, "of a study: the seed of that model (default: the first)")
      ->type_name("N")
      ->needs(arm);
  takes_texts(command, a->texts);
  auto* const documents = command->add_option(
      "--documents", a->documents, "documents of a corpus or of a study's test text to search on (default 4)");
  documents->check(CLI::Range(1, 100000));
  command->add_option("--held-out", a->held_out, "last documents, which the search does not read (default 4)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--to", a->to, "target length (default: four times the trained length)")->type_name("N");
  command->add_option("--objective", a->objective, "loss of the last --tail tokens, or needle: loss of passkeys")
      ->type_name("loss|needle");
  command
      ->add_option("--tail", a->tail,
                   "tokens before a length that its loss is over (default 512, at most the trained length)")
      ->check(CLI::Range(1, 1 << 20));
  auto* const depths = command->add_option("--depths", a->depths,
                                           "passkeys at so many depths of each document, with --objective needle");
  depths->check(CLI::Range(1, 64));
  takes_numbers(command, *a);
  command->add_option("--arch", a->architecture, "architecture that GGUF keys begin with (default: the model's)")
      ->type_name("NAME");
  command->add_option("-o,--output", a->output,
                      "folder of the study (default: results/search-NAME-to-TARGET-seedSEED)");
  command->add_flag("--quiet", a->quiet, "no progress");
  takes_json(command, context);
  command->callback([a, documents, depths, &context] {
    expect(documents->count() == 0 || a->texts.files.empty() || !a->texts.corpus.empty(),
           "search: --documents goes with --corpus or a study; every file of --text is read");
    expect(depths->count() == 0 || search::aim_of(a->objective) == search::Aim::needle,
           "search: --depths goes with --objective needle");
    run_search(*a, context);
  });
}

}  // namespace sextant::cli
