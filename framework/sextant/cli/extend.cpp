// extend: a pretrained model read past the length it was trained at, under every scaling asked for, tuned or not.
#include <sextant/base/file.hpp>
#include <sextant/base/session.hpp>
#include <sextant/claims/judge.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/cli/subjects.hpp>
#include <sextant/extend/claims.hpp>
#include <sextant/extend/tables.hpp>
#include <sextant/extend/tune.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/report/claims.hpp>
#include <sextant/report/text.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/number.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::cli {
namespace {
using encoding::Choice;
using encoding::Role;

struct ExtendArguments {
  std::string model, output;
  Texts texts;
  std::vector<std::string> with, lengths;
  std::string to, precision = "fp32";
  int tail = 512, depths = 4, rows = 16;
  std::string claims;  ///< a file
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
  auto const from = written.find_first_not_of(' ');
  expect(from != std::string::npos, "extend: --with has an arm without a name, expected a scaling");
  if (auto const name = written.substr(from); registry.has(Role::scaling, name))
    for (auto const& option : registry.describe(Role::scaling, name).options)
      if (option.name == "factor" && !option.fallback) written = "{use: " + name + ", factor: auto}";
  return choices_of(written, Role::scaling, "--with", registry);
}

extend::Settings settings_of(ExtendArguments const& a, int trained) {
  extend::Settings out;
  out.tail = a.tail, out.depths = a.depths, out.rows = a.rows;
  int const to = a.to.empty() ? 2 * trained : token_count(a.to, "extend: --to");
  for (auto const& length : a.lengths) {
    out.lengths.push_back(token_count(length, "extend: --lengths"));
    expect(a.to.empty() || out.lengths.back() <= to, "extend: --lengths has ", out.lengths.back(),
           ", and the longest shall be --to ", to);
  }
  if (out.lengths.empty())
    for (int const length : {trained / 2, trained, (trained + to) / 2})
      if (length < to && length >= a.tail) out.lengths.push_back(length);
  if (out.lengths.empty() || out.lengths.back() < to) out.lengths.push_back(to);
  return out;
}

/// Every document of the corpus but those that are measured, by name or by text.
std::vector<extend::Document> tuning_documents(ExtendArguments const& a, extend::Subject const& subject,
                                               tokens::Tokenizer const& tokenizer,
                                               std::vector<extend::Document> const& measured, int length) {
  std::string const name = a.tune_on.empty() ? a.texts.corpus : a.tune_on;
  expect(!name.empty(), "extend: --tune needs a text to train on, expected --tune-on or --corpus");
  auto corpus = tasks::load_corpus(name, tasks::default_cache());
  std::erase_if(corpus.documents, [&](tasks::Document const& document) {
    std::string const by_name = identity_in(corpus, document.name);
    std::string const by_text = sha256(tasks::text_of(corpus, document));
    return std::any_of(measured.begin(), measured.end(), [&](extend::Document const& other) {
      return other.sha256 == by_name || other.sha256 == by_text;
    });
  });
  expect(!corpus.documents.empty(), "extend: every document of ", name,
         " is measured, so that none is left to tune on; ", "expected fewer --documents, or another text in --tune-on");
  std::vector<extend::Document> out;
  for (auto& document : tasks::documents(corpus, tokenizer, length + 1))
    out.push_back(document_of(subject, corpus, std::move(document)));
  return out;
}

nlohmann::json facts_of_tuning(extend::Tuning const& tuning) {
  return {{"steps", tuning.steps},
          {"length", tuning.length},
          {"rows", tuning.rows},
          {"rate", tuning.rate},
          {"warmup", tuning.warmup},
          {"seed", tuning.seed},
          {"documents", names_of(tuning.documents)}};
}

std::optional<extend::Tuning> tuning_of(ExtendArguments const& a, extend::Subject const& subject,
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

/// What studies that may follow one another in a folder are called: stages of one serve another.
std::string subject_name(extend::Subject const& subject, extend::Settings const& settings) {
  return text("extend-", subject.name, "-to-", settings.longest());
}

/// extend-smollm2-to-16384-linear-x2-yarn-x2-tuned-2e6-bf16
std::string study_name(ExtendArguments const& a, extend::Subject const& subject, extend::Settings const& settings,
                       std::vector<extend::Arm> const& arms) {
  constexpr std::size_t most = 100;  // of a file name's 255
  std::string how;
  for (auto const& arm : arms)
    if (arm.weights.empty() && &arm != &arms.front()) how += "-" + arm.label;
  if (how.size() > most) how = how.substr(0, most) + "-" + sha256(how).substr(0, 8);
  if (!a.tune.empty()) how += "-tuned-" + a.tune;
  if (a.precision != "fp32") how += "-" + a.precision;
  return subject_name(subject, settings) + report::file_word(how);
}

void run_extend(ExtendArguments const& a, Context& context) {
  Session const kokkos(context.threads);
  Exec const exec;
  std::string const started = results::now_iso8601();
  auto const& registry = context.registry();
  std::vector<std::vector<Choice>> scalings;
  for (auto const& list : a.with)
    for (auto const& arm : arms_in(list)) scalings.push_back(scaling_of(arm, registry));
  auto source = pretrained::open_source(pretrained::find_model(a.model, tasks::default_cache()), registry);
  auto const settings = settings_of(a, source.description.context_length);
  source.description.config.precision = a.precision == "bf16" ? model::Precision::bf16 : model::Precision::fp32;
  auto const tokenizer = tokenizer_of(source, "extend");
  auto const subject = subject_of(source, tokenizer, registry);
  auto const documents = documents_of(a.texts, subject, *tokenizer, settings.longest(), "extend");
  settings.check(subject, documents);
  auto const tuning = tuning_of(a, subject, *tokenizer, documents, settings.longest());
  auto const arms = extend::make_arms(subject, scalings, settings, registry, tuning ? &*tuning : nullptr);
  std::string const name = study_name(a, subject, settings, arms);
  results::Store const store(a.output.empty() ? default_folder(name) : fs::path(a.output));
  expect_free(store, subject_name(subject, settings));
  extend::Work const work{subject, documents, arms, settings, registry, tuning ? &*tuning : nullptr, &store};
  claims::Claims claims;
  if (!a.claims.empty())
    claims = extend::about_documents(spec::load_claims(a.claims, extend::claimable(work), catalogue_of(registry)),
                                     extend::tuned_in(arms));
  auto const stages = extend::stages_of(work);
  run::catch_signals();
  to_the_end(context, [&] { extend::carry_out(exec, stages, store, a.quiet); });
  auto facts = facts_of(work);
  facts["with"] = a.with, facts["precision"] = a.precision;
  if (tuning) facts["tune"] = facts_of_tuning(*tuning);
  auto file = file_of(
      {name, text(subject.name, ": ", subject.position.trained_length, " tokens stretched to ", settings.longest()),
       text("What does each scaling do to a trained model that is read past its length, ",
            tuning ? "before and after tuning?" : "without tuning?"),
       facts.dump(2) + "\n", started},
      work, stages, store, context);
  auto tables = extend::tables_of(file);
  if (!claims.empty()) {
    auto const judgement = claims::judge(claims, file);
    file["summary"]["claims"] = claims::to_group(judgement);
    tables.push_back(report::claims_table(judgement));
  }
  publish(file, tables, store, context);
  for (auto const& arm : arms)
    if (!arm.weights.empty() && store.done(arm.weights))
      fmt::print(stderr, "{}: {}\n", arm.label, extend::weights_file(store, arm).string());
}
}  // namespace

void add_extend(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "extend", "Stretch a pretrained model, and tune it: loss by length and position, passkeys, attention",
      {"extend smollm2 --text book.txt --with linear,ntk,yarn --to 16384",
       "extend smollm2 --corpus faq --documents 8 --with linear,ntk,yarn,dynamic --to 16384",
       "extend model.gguf --text a.txt b.txt --with '{use: yarn, factor: 2}' dynamic --lengths 4096 8192 12288 16384",
       "extend smollm2 --text book.txt --with ntk --depths 0 --rows 0 --json",
       "extend smollm2 --corpus faq --with linear,yarn --to 16384 --claims claims.yaml",
       "extend smollm2 --corpus faq --documents 4 --with linear,yarn --to 16384 --tune 2e6 --tune-length 4096"});
  auto const a = std::make_shared<ExtendArguments>();
  command
      ->add_option(
          "model", a->model,
          "a GGUF file, a folder with config.json, safetensors and tokenizer.json, a checkpoint of `sextant import`, "
          "or a known model")
      ->required();
  auto* const corpus = takes_texts(command, a->texts);
  command->add_option("--documents", a->texts.documents, "at most so many of a corpus's (default 8)")
      ->check(CLI::Range(1, 100000))
      ->needs(corpus);
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
      ->add_option("--claims", a->claims,
                   "a file with a block `claims:` as specs have it, judged over the documents of this study")
      ->type_name("FILE");
  auto* const tune = command->add_option(
      "--tune", a->tune,
      "also tune the model under each of --with, on so many tokens of documents that are not measured, and "
      "measure it again; `none` in --with is the model tuned as it is");
  tune->type_name("TOKENS");
  command->add_option("--tune-on", a->tune_on, "the corpus, file or folder to tune on (default: --corpus)")
      ->type_name("NAME")
      ->needs(tune);
  command->add_option("--tune-length", a->tune_length, "tokens a row (default: the longest length)")
      ->type_name("N")
      ->needs(tune);
  command->add_option("--tune-batch", a->tune_rows, "rows a step (default: as many as 16384 tokens have, at least one)")
      ->type_name("ROWS")
      ->check(CLI::Range(1, 1 << 16))
      ->needs(tune);
  command->add_option("--tune-rate", a->tune_rate, "learning rate after the rise (default 2e-5)")
      ->check(above(0))
      ->needs(tune);
  command->add_option("--tune-warmup", a->tune_warmup, "steps over which the rate rises (default 20)")
      ->check(CLI::Range(0, 1 << 20))
      ->needs(tune);
  command->add_option("--tune-seed", a->tune_seed, "of the rows that are drawn (default 0)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->needs(tune);
  command->add_option("--tune-save", a->tune_save, "steps between checkpoints (default: only when it is stopped)")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(tune);
  command
      ->add_option(
          "--precision", a->precision,
          "what matrix products and attention take, summing in fp32: fp32, or bf16, which reads half the bytes")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  command->add_option("-o,--output", a->output,
                      "folder of the study (default: results/extend-NAME-to-LONGEST-SCALINGS)");
  command->add_flag("--quiet", a->quiet, "no progress");
  takes_json(command, context);
  command->callback([a, &context] { run_extend(*a, context); });
}

}  // namespace sextant::cli
