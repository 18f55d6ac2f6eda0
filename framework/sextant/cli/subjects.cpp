#include <sextant/base/file.hpp>
#include <sextant/cli/subjects.hpp>
#include <sextant/extend/tune.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/text.hpp>
#include <sextant/run/provenance.hpp>
#include <sextant/run/stop.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <sextant/base/json.hpp>

namespace sextant::build {
extern char const* const version;
}

namespace sextant::cli {
namespace {
nlohmann::json to_json(report::Table const& table) {
  nlohmann::json out{{"title", table.title}, {"notes", table.notes}};
  for (auto const& row : table.rows) {
    nlohmann::json cells;
    for (std::size_t n = 0; n < row.size(); ++n) cells[table.columns[n].header] = row[n].text;
    out["rows"].push_back(std::move(cells));
  }
  return out;
}
}  // namespace

CLI::Option* takes_texts(CLI::App* command, Texts& texts) {
  command->add_option("--text", texts.files, "texts to read, each a document from its beginning")->type_name("FILE...");
  return command->add_option("--corpus", texts.corpus, "read whole documents of a corpus, those that are long enough")
      ->type_name("NAME");
}

SharedTokenizer tokenizer_of(pretrained::Source const& source, std::string const& command) {
  expect(source.vocabulary.has_value(), source.path, ": `", command, "` reads text, and ", source.no_vocabulary);
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

std::string identity_in(tasks::Corpus const& corpus, std::string const& document) {
  return sha256(corpus.sha256 + "/" + document);
}

namespace {
extend::Document behind_bos(extend::Subject const& subject, std::string name, std::string identity,
                            std::vector<std::int32_t> tokens) {
  if (subject.bos) tokens.insert(tokens.begin(), *subject.bos);
  return {std::move(name), std::move(identity), std::move(tokens)};
}
}  // namespace

extend::Document document_of(extend::Subject const& subject, tasks::Corpus const& corpus,
                             tasks::TokenDocument document) {
  std::string identity = identity_in(corpus, document.name);
  return behind_bos(subject, std::move(document.name), std::move(identity), std::move(document.ids));
}

std::vector<extend::Document> documents_of(Texts const& texts, extend::Subject const& subject,
                                           tokens::Tokenizer const& tokenizer, int longest,
                                           std::string const& command) {
  expect(!texts.files.empty() || !texts.corpus.empty(), command,
         ": there is nothing to read, expected --text or --corpus");
  std::vector<extend::Document> out;
  for (auto const& file : texts.files) {
    std::string const text = read_file(file), identity = sha256(text);
    for (auto const& other : out)
      expect(other.sha256 != identity, command, ": ", file, " is the text of ", other.name,
             " again, expected documents that differ: each counts as one");
    out.push_back(behind_bos(subject, fs::path(file).filename().string(), identity, subject.encode(text)));
  }
  if (texts.corpus.empty()) return out;
  auto const corpus = tasks::load_corpus(texts.corpus, tasks::default_cache());
  for (auto& document : tasks::documents(corpus, tokenizer, longest + 1, texts.documents))
    out.push_back(document_of(subject, corpus, std::move(document)));
  return out;
}

nlohmann::json names_of(std::vector<extend::Document> const& documents) {
  auto out = nlohmann::json::array();
  for (auto const& document : documents) out.push_back({{"name", document.name}, {"sha256", document.sha256}});
  return out;
}

nlohmann::json facts_of(extend::Work const& work) {
  nlohmann::json out{{"model", work.subject.name}, {"model_sha256", work.subject.sha256}};
  out["trained_length"] = work.subject.position.trained_length;
  out["lengths"] = work.settings.lengths, out["tail"] = work.settings.tail;
  out["depths"] = work.settings.depths, out["rows"] = work.settings.rows;
  out["documents"] = names_of(work.documents);
  return out;
}

results::Group file_of(Publication const& about, extend::Work const& work, std::vector<extend::Stage> const& stages,
                       results::Store const& store, Context const& context) {
  results::Study study;
  study.name = about.name;
  study.title = about.title;
  study.creator_version = build::version;
  study.source = study.resolved = about.text;
  study.provenance = run::program_provenance(context.command_line, about.started);
  std::vector<encoding::PositionChoice> positions;
  for (auto const& arm : work.arms) positions.push_back(arm.position);
  run::add_plugins(study.provenance, positions, {}, work.registry);
  study.provenance.inputs.push_back({.name = work.subject.name, .kind = "model", .sha256 = work.subject.sha256});
  for (auto const& document : work.documents)
    study.provenance.inputs.push_back({.name = document.name, .kind = "text", .sha256 = document.sha256});
  if (work.tuning)
    for (auto const& document : work.tuning->documents)
      study.provenance.inputs.push_back({.name = document.name, .kind = "training text", .sha256 = document.sha256});
  study.runs = extend::runs_of(stages, work);
  results::Group file = results::assemble(study, store);
  file.set("question", about.question);
  return file;
}

fs::path default_folder(std::string const& name) { return fs::path("results") / report::file_word(name); }

void expect_free(results::Store const& store, std::string const& subject) {
  if (!fs::exists(store.study_file())) return;
  auto const held = results::read_file(store.study_file()).attribute<std::string>("study", "");
  expect(held == subject || held.starts_with(subject + "-"), store.folder().string(), ": holds another study, ", held,
         ", expected ", subject, " or none: choose another folder with -o");
}

namespace {
/// Runs are called after all that determines them.
void keep_old_study(fs::path const& file, results::Group const& now) {
  if (!fs::exists(file)) return;
  auto const runs = results::read_group(file, "runs");
  bool const all = std::all_of(runs.groups.begin(), runs.groups.end(),
                               [&](auto const& run) { return now.has_group("runs/" + run.first); });
  if (!all) set_aside(file, sha256_file(file), "shows other measurements");
}
}  // namespace

bool to_the_end(Context& context, std::function<void()> const& work) {
  try {
    work();
    return true;
  } catch (run::Stopped const& stop) {
    fmt::print(stderr, "{}; the same command goes on from here\n", stop.what());
    context.code = Exit::stopped;
    return false;
  }
}

void publish(results::Group const& file, std::vector<report::Table> const& tables, results::Store const& store,
             Context const& context) {
  keep_old_study(store.study_file(), file);
  store.publish(file);
  if (context.json) {
    nlohmann::json all = nlohmann::json::array();
    for (auto const& table : tables) all.push_back(to_json(table));
    fmt::print("{}\n", all.dump(2));
  } else {
    for (auto const& table : tables)
      fmt::print("{}\n", report::to_terminal(table, report::terminal_look(STDOUT_FILENO)));
  }
  auto const page = store.folder() / "report.html";
  write_file_atomically(page, report::html_report(report::load_study(store.study_file())));
  fmt::print(stderr, "{}\n{}\n", fs::absolute(store.study_file()).lexically_normal().string(),
             fs::absolute(page).lexically_normal().string());
}

}  // namespace sextant::cli
