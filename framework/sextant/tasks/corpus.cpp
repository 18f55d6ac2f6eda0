#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tasks/corpus.hpp>

namespace sextant::tasks {
namespace {

struct Output {
  std::string text;
  int status;
};

Output run(std::string const& command) {
  std::FILE* const pipe = ::popen(("exec </dev/null; " + command).c_str(), "r");
  expect(pipe != nullptr, "cannot start a shell for: ", command);
  Output out;
  char buffer[1 << 16];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.text.append(buffer, n);
  int const status = ::pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return out;
}

/// "bible-kjv 4.38, bible-kjv-text 4.38". Throws Error when one of the packages is not installed.
std::string installed_versions(CorpusRecipe const& recipe) {
  std::vector<std::string> found, missing;
  for (std::string const& package : recipe.packages) {
    Output const out = run("dpkg-query -W -f '${db:Status-Status} ${Version}' " + package + " 2>/dev/null");
    if (out.status == 0 && out.text.starts_with("installed "))
      found.push_back(package + " " + out.text.substr(10));
    else
      missing.push_back(package);
  }
  expect(missing.empty(), "corpus ", recipe.name,
         " is made from a system package that is not installed; install it with: ", "apt-get install ",
         join(missing, " "));
  return join(found);
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (CorpusRecipe const& recipe : corpus_recipes()) names.push_back(recipe.name);
  return names;
}

CorpusRecipe const* find_recipe(std::string const& name) {
  auto const& all = corpus_recipes();
  auto const at = std::ranges::find(all, name, &CorpusRecipe::name);
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::uint8_t> as_bytes(std::string const& text) { return {text.begin(), text.end()}; }

Corpus read_user_file(std::filesystem::path const& path) {
  std::string const text = read_file(path);
  expect(!text.empty(), path.string(), " is empty, expected a text");
  return {path.filename().string(), as_bytes(text), sha256(text), "not stated (your own file)",
          std::filesystem::absolute(path).string()};
}

}  // namespace

std::vector<CorpusRecipe> const& corpus_recipes() {
  static std::vector<CorpusRecipe> const recipes = {
      {"kjv",
       "King James Bible as its reader prints it: chapter headings, verse numbers, lines of 80 columns",
       {"bible-kjv", "bible-kjv-text"},
       "text: public domain (copyright expired); packing program: GPL-2+",
       "bible -l80 gen1:1-rev22:21"},
      {"kjv-plain",
       "King James Bible, a verse a line, without headings and verse numbers",
       {"bible-kjv", "bible-kjv-text"},
       "text: public domain (copyright expired); packing program: GPL-2+",
       "bible -l100000 gen1:1-rev22:21 | LC_ALL=C sed -n 's/^  [0-9][0-9]* //p'"},
      {"faq",
       "An Anarchist FAQ, Markdown, its documents one after another in the order of their file names: long prose",
       {"anarchism"},
       "GPL-2",
       "LC_ALL=C; export LC_ALL; zcat /usr/share/doc/anarchism/markdown/*.md.gz"},
  };
  return recipes;
}

std::filesystem::path default_cache() {
  auto const variable = [](char const* name) {
    char const* const value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (auto const cache = variable("SEXTANT_CACHE"); !cache.empty()) return cache;
  if (auto const cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "sextant";
  auto const home = variable("HOME");
  expect(!home.empty(), "no place for the cache of corpora: set SEXTANT_CACHE, XDG_CACHE_HOME or HOME");
  return home / ".cache" / "sextant";
}

std::optional<CorpusRecord> corpus_record(std::string const& name, std::filesystem::path const& cache) {
  auto const path = cache / (name + ".json");
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    auto const json = nlohmann::json::parse(read_file(path));
    return CorpusRecord{json.at("name"),    json.at("file"),   json.at("sha256"),
                        json.at("licence"), json.at("source"), json.at("bytes")};
  } catch (nlohmann::json::exception const& wrong) {
    fail(path.string(), " is no corpus record (", wrong.what(), "); build it again: sextant corpus add ", name);
  }
}

CorpusRecord add_corpus(CorpusRecipe const& recipe, std::filesystem::path const& cache) {
  std::string const source = installed_versions(recipe);
  Output const out = run(recipe.command);
  expect(out.status == 0 && !out.text.empty(), "corpus ", recipe.name, ": `", recipe.command, "` ended with status ",
         out.status, " and gave ", out.text.size(), " bytes");
  std::filesystem::create_directories(cache);
  std::string const digest = sha256(out.text);
  CorpusRecord const record{recipe.name, recipe.name + "-" + digest.substr(0, 12) + ".txt", digest, recipe.licence,
                            source,      static_cast<std::int64_t>(out.text.size())};
  write_file_atomically(cache / record.file, out.text);
  nlohmann::ordered_json const json = {
      {"name", record.name},       {"file", record.file},     {"bytes", record.bytes},    {"sha256", record.sha256},
      {"licence", record.licence}, {"source", record.source}, {"command", recipe.command}};
  write_file_atomically(cache / (record.name + ".json"), json.dump(2) + "\n");
  return record;
}

CorpusRecord add_corpus(std::string const& name, std::filesystem::path const& cache) {
  CorpusRecipe const* const recipe = find_recipe(name);
  expect(recipe != nullptr, "no corpus is called ", name, did_you_mean(name, recipe_names()));
  return add_corpus(*recipe, cache);
}

Corpus load_corpus(std::string const& name_or_path, std::filesystem::path const& cache) {
  CorpusRecipe const* const recipe = find_recipe(name_or_path);
  if (recipe == nullptr) {
    expect(std::filesystem::is_regular_file(name_or_path), "corpus ", name_or_path,
           " is neither a known name nor a file", did_you_mean(name_or_path, recipe_names()));
    return read_user_file(name_or_path);
  }
  auto record = corpus_record(name_or_path, cache);
  if (!record || !std::filesystem::exists(cache / record->file)) record = add_corpus(*recipe, cache);
  auto const path = cache / record->file;
  std::string const text = read_file(path);
  std::string const found = sha256(text);
  expect(found == record->sha256, path.string(), " has sha256 ", found, ", expected ", record->sha256, " as in ",
         (cache / (name_or_path + ".json")).string(),
         ": the text was changed after it was built. Build it again: ", "sextant corpus add ", name_or_path);
  return {record->name, as_bytes(text), record->sha256, record->licence, record->source};
}

Split split(Corpus const& corpus, double train_share, double test_share) {
  expect(train_share > 0 && test_share > 0 && train_share + test_share <= 1 + 1e-9, "split of ", corpus.name,
         ": train ", train_share, " and test ", test_share, ", expected two shares > 0 whose sum is at most 1");
  auto const size = static_cast<double>(corpus.bytes.size());
  auto const train = static_cast<std::size_t>(std::llround(train_share * size));
  auto const test = std::min(corpus.bytes.size() - train, static_cast<std::size_t>(std::llround(test_share * size)));
  std::span<std::uint8_t const> const all(corpus.bytes);
  return {all.first(train), all.last(test)};
}

}  // namespace sextant::tasks
