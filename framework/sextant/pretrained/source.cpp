#include <sextant/base/error.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/gguf_vocabulary.hpp>
#include <sextant/pretrained/safetensors_files.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

#include <algorithm>

namespace sextant::pretrained {
namespace {
Source open_gguf(fs::path const& path, encoding::Registry const& registry) {
  auto const file = std::make_shared<Gguf>(path);
  Source out{path.string(), text("GGUF ", file->version()), describe(*file, registry),
             file,          read_vocabulary(*file),         ""};
  if (!out.vocabulary) out.no_vocabulary = "the file has no tokenizer.ggml.model";
  return out;
}

// A tokenizer of a kind that is not read here leaves a model that reads ids: the reason is kept for who asks for text.
void read_tokenizer(fs::path const& folder, Source& out) {
  fs::path const file = folder / "tokenizer.json";
  if (!fs::exists(file)) {
    out.no_vocabulary = "the folder has no tokenizer.json";
    return;
  }
  try {
    out.vocabulary = tokens::read_tokenizer_json(file);
  } catch (Error const& error) {
    out.no_vocabulary = error.what();
    return;
  }
  auto const known = static_cast<int>(out.vocabulary->tokens.size());
  expect(known <= out.description.config.vocabulary, file.string(), ": has ", known,
         " tokens, expected at most vocab_size ", out.description.config.vocabulary, " of config.json");
}

Source open_folder(fs::path const& folder, encoding::Registry const& registry) {
  fs::path const config = folder / "config.json";
  expect(fs::exists(config), folder.string(), ": has no config.json, expected a folder as transformers saves it");
  auto const weights = std::make_shared<SafetensorsFiles>(folder);
  Source out{folder.string(), "safetensors", describe(read_file(config), config.string(), registry), weights, {}, ""};
  read_tokenizer(folder, out);
  return out;
}

std::vector<fs::path> files_of(fs::path const& folder) {
  std::vector<fs::path> out;
  for (auto const& entry : fs::directory_iterator(folder)) {
    std::string const name = entry.path().filename().string();
    bool const weights = name.ends_with(".safetensors") || name == "model.safetensors.index.json";
    if (entry.is_regular_file() && (weights || name == "config.json" || name == "tokenizer.json"))
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}
}  // namespace

Source open_source(fs::path const& path, encoding::Registry const& registry) {
  expect(fs::exists(path), path.string(), ": there is no such file or folder");
  if (fs::is_directory(path)) return open_folder(path, registry);
  if (path.extension() != ".safetensors") return open_gguf(path, registry);
  auto checkpoint = open_checkpoint(path);
  expect(checkpoint.has_value(), path.string(),
         " is no checkpoint of an imported model: give the folder that holds config.json");
  return *checkpoint;
}

std::string sha256_of_model(fs::path const& path) {
  if (!fs::is_directory(path)) return sha256_file(path);
  std::string all;
  for (auto const& file : files_of(path)) all += file.filename().string() + " " + sha256_file(file) + "\n";
  return sha256(all);
}

std::int64_t bytes_of(fs::path const& path) {
  if (!fs::is_directory(path)) return static_cast<std::int64_t>(fs::file_size(path));
  std::int64_t sum = 0;
  for (auto const& file : files_of(path)) sum += static_cast<std::int64_t>(fs::file_size(file));
  return sum;
}

}  // namespace sextant::pretrained
