// extend: a pretrained model read past the length it was trained at, under every scaling asked for, tuned or not.
#include <sextant/base/file.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/extend/extend.hpp>
#include <sextant/extend/tables.hpp>
#include <sextant/extend/tune.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/load.hpp>
#include <sextant/run/provenance.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/spec/number.hpp>
#include <sextant/tasks/corpus.hpp>
#include <sextant/tasks/token_documents.hpp>
#include <sextant/tokens/tokenizer.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace sextant::build {
extern char const* const version;
}

namespace sextant::cli {
namespace {
using encoding::Choice;
using encoding::Role;

struct Arguments {
  std::string model, corpus, output;
  std::vector<std::string> texts, with, lengths;
  std::string to;
  int documents = 8, tail = 512, depths = 4, rows = 16;
  std::string tune, tune_length, tune_on;
  int tune_rows = 0, tune_warmup = 20, tune_save = 0;
  std::int64_t tune_seed = 0;
  double tune_rate = 2e-5;
  bool quiet = false;
};

/// linear,{use: yarn, factor: 2},[abf, linear]: commas outside brackets part the arms.
std::vector<std::string> arms_in(std::string const& list) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (char const c : list) {
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// What stands in a spec under position.scaling; a factor that is asked for and not given is auto.
std::vector<Choice> scaling_of(std::string const& text, encoding::Registry const& registry) {
  if (text == "none") return {};
  std::string written = text;
  if (auto const name = written.substr(written.find_first_not_of(' ')); registry.has(Role::scaling, name))
    for (auto const& option : registry.describe(Role::scaling, name).options)
      if (option.name == "factor" && !option.fallback) written = "{use: " + name + ", factor: auto}";
  return choices_of(written, Role::scaling, "--with", registry);
}

extend::Settings settings_of(Arguments const& a, int trained) {
  extend::Settings out;
  out.tail = a.tail, out.depths = a.depths, out.rows = a.rows;
  int const to = a.to.empty() ? 2 * trained : token_count(a.to, "extend: --to");
  for (auto const& length : a.lengths) out.lengths.push_back(token_count(length, "extend: --lengths"));
  if (out.lengths.empty())
    for (int const length : {trained / 2, trained, (trained + to) / 2})
      if (length < to && length >= a.tail) out.lengths.push_back(length);
  if (out.lengths.empty() || out.lengths.back() < to) out.lengths.push_back(to);
  return out;
}

using SharedTokenizer = std::shared_ptr<tokens::Tokenizer const>;

SharedTokenizer tokenizer_of(pretrained::Source const& source) {
  expect(source.vocabulary.has_value(), source.path, " has no tokenizer, and `extend` reads text");
  return std::make_shared<tokens::Tokenizer const>(*source.vocabulary);
}

extend::Subject subject_of(pretrained::Source const& source, SharedTokenizer const& tokenizer,
                           encoding::Registry const& registry) {
  extend::Subject out;
  out.name = source.description.name.empty() ? fs::path(source.path).stem().string() : source.description.name;
  out.sha256 = pretrained::sha256_of_model(source.path);
  out.description = source.description;
  out.vocabulary = source.vocabulary;
  out.position = source.description.position;
  out.position.trained_length = source.description.context_length;
  out.network = std::make_shared<run::Network>(
      pretrained::load<float>(source, pretrained::position_of(source.description, registry, out.position)));
  out.encode = [tokenizer](std::string_view text) { return tokenizer->encode(text).ids; };
  if (auto const begin = tokenizer->encode("", {.add = true}).ids; !begin.empty() && source.vocabulary->bos == begin[0])
    out.bos = begin[0];
  return out;
}

std::vector<extend::Document> documents_of(Arguments const& a, extend::Subject const& subject,
                                           tokens::Tokenizer const& tokenizer, int longest) {
  std::vector<extend::Document> out;
  auto const add = [&](std::string name, std::string identity, std::vector<std::int32_t> tokens) {
    if (subject.bos) tokens.insert(tokens.begin(), *subject.bos);
    out.push_back({std::move(name), sha256(identity), std::move(tokens)});
  };
  for (auto const& file : a.texts) {
    std::string const text = read_file(file);
    add(fs::path(file).filename().string(), text, subject.encode(text));
  }
  if (a.corpus.empty()) return out;
  auto const corpus = tasks::load_corpus(a.corpus, tasks::default_cache());
  for (auto& document : tasks::documents(corpus, tokenizer, longest + 1, a.documents))
    add(document.name, corpus.sha256 + "/" + document.name, std::move(document.ids));
  return out;
}

/// Every document of the corpus but those that are measured, by name or by text.
std::vector<extend::Document> tuning_documents(Arguments const& a, extend::Subject const& subject,
                                               tokens::Tokenizer const& tokenizer,
                                               std::vector<extend::Document> const& measured, int length) {
  std::string const name = a.tune_on.empty() ? a.corpus : a.tune_on;
  expect(!name.empty(), "extend: --tune needs a text to train on, expected --tune-on or --corpus");
  auto corpus = tasks::load_corpus(name, tasks::default_cache());
  std::erase_if(corpus.documents, [&](tasks::Document const& document) {
    std::string const text(corpus.bytes.begin() + document.offset,
                           corpus.bytes.begin() + document.offset + document.length);
    std::string const by_name = sha256(corpus.sha256 + "/" + document.name), by_text = sha256(text);
    return std::any_of(measured.begin(), measured.end(), [&](extend::Document const& other) {
      return other.sha256 == by_name || other.sha256 == by_text;
    });
  });
  expect(!corpus.documents.empty(), "extend: every document of ", name,
         " is measured, so that none is left to tune on; ", "expected fewer --documents, or another text in --tune-on");
  std::vector<extend::Document> out;
  for (auto& document : tasks::documents(corpus, tokenizer, length + 1)) {
    if (subject.bos) document.ids.insert(document.ids.begin(), *subject.bos);
    out.push_back({document.name, sha256(corpus.sha256 + "/" + document.name), std::move(document.ids)});
  }
  return out;
}

std::optional<extend::Tuning> tuning_of(Arguments const& a, extend::Subject const& subject,
                                        tokens::Tokenizer const& tokenizer,
                                        std::vector<extend::Document> const& measured, int longest) {
  if (a.tune.empty()) return {};
  extend::Tuning out;
  out.length = a.tune_length.empty() ? longest : token_count(a.tune_length, "extend: --tune-length");
  out.rows = a.tune_rows > 0 ? a.tune_rows : std::max(1, 16384 / out.length);
  auto const number = spec::parse_number(a.tune);
  double const tokens = number ? spec::as_double(*number) : 0;
  expect(tokens >= 1 && tokens <= 1e12, "extend: --tune is ", a.tune, ", expected a number of tokens from 1 to 1e12");
  out.steps = std::max(1, static_cast<int>(std::lround(tokens / (static_cast<double>(out.rows) * out.length))));
  out.rate = a.tune_rate, out.warmup = a.tune_warmup, out.seed = a.tune_seed;
  if (a.tune_save > 0) out.save_every = a.tune_save;
  out.documents = tuning_documents(a, subject, tokenizer, measured, out.length);
  return out;
}

nlohmann::json to_json(report::Table const& table) {
  nlohmann::json out{{"title", table.title}, {"notes", table.notes}};
  for (auto const& row : table.rows) {
    nlohmann::json cells;
    for (std::size_t n = 0; n < row.size(); ++n) cells[table.columns[n].header] = row[n].text;
    out["rows"].push_back(std::move(cells));
  }
  return out;
}

/// The options as text: what a reader of the study file needs to repeat it.
std::string text_of(Arguments const& a, extend::Work const& work) {
  nlohmann::json out{{"extend", work.subject.name}, {"model_sha256", work.subject.sha256}};
  out["trained_length"] = work.subject.position.trained_length;
  out["lengths"] = work.settings.lengths, out["tail"] = work.settings.tail;
  out["depths"] = work.settings.depths, out["rows"] = work.settings.rows, out["with"] = a.with;
  auto const list = [](std::vector<extend::Document> const& documents) {
    nlohmann::json names = nlohmann::json::array();
    for (auto const& document : documents) names.push_back({{"name", document.name}, {"sha256", document.sha256}});
    return names;
  };
  out["documents"] = list(work.documents);
  if (auto const* t = work.tuning)
    out["tune"] = {{"steps", t->steps},
                   {"length", t->length},
                   {"rows", t->rows},
                   {"rate", t->rate},
                   {"warmup", t->warmup},
                   {"seed", t->seed},
                   {"documents", list(t->documents)}};
  return out.dump(2) + "\n";
}

results::Group publish(Arguments const& a, extend::Work const& work, std::vector<extend::Stage> const& stages,
                       results::Store const& store, std::string const& started, Context const& context) {
  results::Study study;
  study.name = "extend-" + work.subject.name;
  study.title = text(work.subject.name, ": ", work.subject.position.trained_length, " tokens stretched to ",
                     work.settings.longest());
  study.creator_version = build::version;
  study.source = study.resolved = text_of(a, work);
  study.provenance = run::program_provenance(context.command_line, started);
  std::vector<encoding::PositionChoice> positions;
  for (auto const& arm : work.arms) positions.push_back(arm.position);
  run::add_plugins(study.provenance, positions, work.registry);
  study.provenance.inputs.push_back({.name = work.subject.name, .kind = "model", .sha256 = work.subject.sha256});
  for (auto const& document : work.documents)
    study.provenance.inputs.push_back({.name = document.name, .kind = "text", .sha256 = document.sha256});
  if (work.tuning)
    for (auto const& document : work.tuning->documents)
      study.provenance.inputs.push_back({.name = document.name, .kind = "training text", .sha256 = document.sha256});
  study.runs = extend::runs_of(stages, work);
  results::Group file = results::assemble(study, store);
  file.set("question",
           work.tuning
               ? "What does each scaling do to a trained model that is read past its length, before and after tuning?"
               : "What does each scaling do to a trained model that is read past its length, without tuning?");
  store.publish(file);
  return file;
}

void run(Arguments const& a, Context& context) {
  Session const kokkos(context.threads);
  Exec const exec;
  std::string const started = results::now_iso8601();
  auto const& registry = context.registry();
  std::vector<std::vector<Choice>> scalings;
  for (auto const& list : a.with)
    for (auto const& arm : arms_in(list)) scalings.push_back(scaling_of(arm, registry));
  auto const source = pretrained::open_source(pretrained::find_model(a.model, tasks::default_cache()), registry);
  auto const settings = settings_of(a, source.description.context_length);
  auto const tokenizer = tokenizer_of(source);
  expect(!a.texts.empty() || !a.corpus.empty(), "extend: there is nothing to read, expected --text or --corpus");
  auto const subject = subject_of(source, tokenizer, registry);
  auto const documents = documents_of(a, subject, *tokenizer, settings.longest());
  settings.check(subject, documents);
  auto const tuning = tuning_of(a, subject, *tokenizer, documents, settings.longest());
  auto const arms = extend::make_arms(subject, scalings, settings, registry, tuning ? &*tuning : nullptr);
  results::Store const store(a.output.empty() ? fs::path("results") / ("extend-" + subject.name) : fs::path(a.output));
  extend::Work const work{subject, documents, arms, settings, registry, tuning ? &*tuning : nullptr, &store};
  auto const stages = extend::stages_of(work);
  run::catch_signals();
  try {
    extend::carry_out(exec, stages, store, a.quiet);
  } catch (run::Stopped const& stop) {
    fmt::print(stderr, "{}; the same command goes on from here\n", stop.what());
    context.code = Exit::stopped;
  }
  auto const file = publish(a, work, stages, store, started, context);
  auto const tables = extend::tables_of(file);
  if (context.json) {
    nlohmann::json all = nlohmann::json::array();
    for (auto const& table : tables) all.push_back(to_json(table));
    fmt::print("{}\n", all.dump(2));
  } else {
    for (auto const& table : tables)
      fmt::print("{}\n", report::to_terminal(table, report::terminal_look(STDOUT_FILENO)));
  }
  for (auto const& arm : arms)
    if (!arm.weights.empty() && store.done(arm.weights))
      fmt::print(stderr, "{}: {}\n", arm.label, extend::weights_file(store, arm).string());
  auto const page = store.folder() / "report.html";
  write_file_atomically(page, report::html_report(report::load_study(store.study_file())));
  fmt::print(stderr, "{}\n{}\n", fs::absolute(store.study_file()).lexically_normal().string(),
             fs::absolute(page).lexically_normal().string());
}
}  // namespace

void add_extend(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "extend", "Stretch a pretrained model, and tune it: loss by length and position, passkeys, attention",
      {"extend smollm2 --text book.txt --with linear,ntk,yarn --to 16384",
       "extend smollm2 --corpus faq --documents 8 --with linear,ntk,yarn,dynamic --to 16384",
       "extend model.gguf --text a.txt b.txt --with '{use: yarn, factor: 2}' dynamic --lengths 4096 8192 12288 16384",
       "extend smollm2 --text book.txt --with ntk --depths 0 --rows 0 --json",
       "extend smollm2 --corpus faq --documents 4 --with linear,yarn --to 16384 --tune 2e6 --tune-length 4096"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("model", a->model, "a GGUF file, a checkpoint of `sextant import`, or a known model")->required();
  command->add_option("--text", a->texts, "texts to read, each a document from its beginning")->type_name("FILE...");
  command->add_option("--corpus", a->corpus, "read whole documents of a corpus, those that are long enough")
      ->type_name("NAME");
  command->add_option("--documents", a->documents, "at most so many of them (default 8)")->check(CLI::Range(1, 100000));
  command
      ->add_option("--with", a->with,
                   "scalings as in a spec, an arm each, parted by commas; a factor that is not given is longest / "
                   "trained length")
      ->type_name("SCALINGS...");
  command->add_option("--to", a->to, "longest length (default: twice the trained length)")->type_name("N");
  command
      ->add_option("--lengths", a->lengths,
                   "lengths below it that are reported (default: half and all of the "
                   "trained length, and halfway to --to)")
      ->type_name("N...");
  command->add_option("--tail", a->tail, "tokens before a length that its loss is over")->check(CLI::Range(1, 1 << 20));
  command->add_option("--depths", a->depths, "passkeys at so many depths of every length; 0: none")
      ->check(CLI::Range(0, 64));
  command->add_option("--rows", a->rows, "rows of attention looked at in every length; 0: none")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option(
          "--tune", a->tune,
          "also tune the model under each of --with, on so many tokens of documents that are not measured, and "
          "measure it again; `none` in --with is the model tuned as it is")
      ->type_name("TOKENS");
  command->add_option("--tune-on", a->tune_on, "the corpus, file or folder to tune on (default: --corpus)")
      ->type_name("NAME");
  command->add_option("--tune-length", a->tune_length, "tokens a row (default: the longest length)")->type_name("N");
  command->add_option("--tune-batch", a->tune_rows, "rows a step (default: as many as 16384 tokens have, at least one)")
      ->type_name("ROWS")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--tune-rate", a->tune_rate, "learning rate after the rise (default 2e-5)")
      ->check(CLI::PositiveNumber);
  command->add_option("--tune-warmup", a->tune_warmup, "steps over which the rate rises (default 20)")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--tune-seed", a->tune_seed, "of the rows that are drawn (default 0)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  command->add_option("--tune-save", a->tune_save, "steps between checkpoints (default: only when it is stopped)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("-o,--output", a->output, "folder of the study (default: results/extend-NAME)");
  command->add_flag("--quiet", a->quiet, "no progress");
  takes_json(command, context);
  command->callback([a, &context] { run(*a, context); });
}

}  // namespace sextant::cli
