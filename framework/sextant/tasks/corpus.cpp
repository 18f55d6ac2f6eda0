#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/base/json.hpp>
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

Corpus own_text(std::filesystem::path const& path, DocumentText made) {
  expect(!made.text.empty(), path.string(), " is empty, expected a text");
  return {path.filename().string(),
          as_bytes(made.text),
          sha256(made.text),
          "not stated (your own file)",
          std::filesystem::absolute(path).string(),
          std::move(made.documents)};
}

Corpus read_user_file(std::filesystem::path const& path) {
  auto const kind = path.extension();
  expect(kind != ".npy" && kind != ".bin", path.string(),
         " holds token ids by its name, expected a text; rename it if its ", "bytes are what you mean");
  std::string const name = path.filename().string(), text = read_file(path);
  return own_text(path, {text, {{name, 0, static_cast<std::int64_t>(text.size())}}});
}

Corpus read_user_folder(std::filesystem::path const& folder) {
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
    if (auto const kind = entry.path().extension(); entry.is_regular_file() && (kind == ".txt" || kind == ".md"))
      files.push_back(entry.path());
  expect(!files.empty(), folder.string(), " is a folder without .txt or .md files");
  std::ranges::sort(files);
  DocumentText made;
  for (auto const& file : files) {
    std::string const text = read_file(file);
    if (text.empty()) continue;
    made.documents.push_back({std::filesystem::relative(file, folder).string(),
                              static_cast<std::int64_t>(made.text.size()), static_cast<std::int64_t>(text.size())});
    made.text += text;
  }
  return own_text(std::filesystem::absolute(folder / ".").parent_path(), std::move(made));
}

nlohmann::ordered_json as_json(std::vector<Document> const& documents) {
  auto list = nlohmann::ordered_json::array();
  for (Document const& d : documents) list.push_back({d.offset, d.length, d.name});
  return list;
}

/// Throws Error unless they stand one after another and fill the text.
std::vector<Document> documents_of(nlohmann::json const& list, std::int64_t bytes) {
  std::vector<Document> documents;
  std::int64_t end = 0;
  for (auto const& item : list) {
    Document const d{item.at(2), item.at(0), item.at(1)};
    expect(d.offset == end && d.length > 0, "document ", d.name, " is ", d.length, " bytes from ", d.offset,
           ", expected some from ", end);
    end += d.length;
    documents.push_back(d);
  }
  expect(end == bytes, "the documents have ", end, " bytes, and the text ", bytes);
  return documents;
}

}  // namespace

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
    if (!json.contains("documents")) return std::nullopt;  // as Sextant 0.1 wrote them
    std::int64_t const bytes = json.at("bytes");
    return CorpusRecord{json.at("name"),
                        json.at("file"),
                        json.at("sha256"),
                        json.at("licence"),
                        json.at("source"),
                        bytes,
                        documents_of(json.at("documents"), bytes)};
  } catch (std::exception const& wrong) {
    fail(path.string(), " is no corpus record (", wrong.what(), "); build it again: sextant corpus add ", name);
  }
}

CorpusRecord add_corpus(CorpusRecipe const& recipe, std::filesystem::path const& cache) {
  std::string const source = installed_versions(recipe);
  Output const out = run(recipe.command);
  expect(out.status == 0 && !out.text.empty(), "corpus ", recipe.name, ": `", recipe.command, "` ended with status ",
         out.status, " and gave ", out.text.size(), " bytes");
  std::filesystem::create_directories(cache);
  DocumentText made = parse_documents(out.text, recipe.name);
  std::string const digest = sha256(made.text);
  CorpusRecord record{recipe.name,
                      recipe.name + "-" + digest.substr(0, 12) + ".txt",
                      digest,
                      recipe.licence,
                      source,
                      static_cast<std::int64_t>(made.text.size()),
                      std::move(made.documents)};
  write_file_atomically(cache / record.file, made.text);
  nlohmann::ordered_json const json = {{"name", record.name},       {"file", record.file},
                                       {"bytes", record.bytes},     {"sha256", record.sha256},
                                       {"licence", record.licence}, {"source", record.source},
                                       {"command", recipe.command}, {"documents", as_json(record.documents)}};
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
    if (std::filesystem::is_directory(name_or_path)) return read_user_folder(name_or_path);
    expect(std::filesystem::is_regular_file(name_or_path), "corpus ", name_or_path,
           " is neither a known name nor a file or folder", did_you_mean(name_or_path, recipe_names()));
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
  return {record->name, as_bytes(text), record->sha256, record->licence, record->source, record->documents};
}

std::string Corpus::sha256_of_documents() const { return sextant::sha256(sha256 + as_json(documents).dump()); }

std::string_view text_of(Corpus const& corpus, Document const& document) {
  return std::string_view(reinterpret_cast<char const*>(corpus.bytes.data()), corpus.bytes.size())
      .substr(static_cast<std::size_t>(document.offset), static_cast<std::size_t>(document.length));
}

}  // namespace sextant::tasks
