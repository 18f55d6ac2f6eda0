#include <sextant/base/error.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/gguf_vocabulary.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

#include <fstream>

namespace sextant::pretrained {
namespace {
bool is_gguf(fs::path const& path) {
  std::string head(4, '\0');
  std::ifstream(path, std::ios::binary).read(head.data(), 4);
  return head == "GGUF";
}

tokens::Vocabulary of_checkpoint(fs::path const& path) {
  auto source = open_checkpoint(path);
  expect(source.has_value(), path.string(),
         " is no checkpoint of an imported model: give the folder that holds tokenizer.json");
  expect(source->vocabulary.has_value(), path.string(), ": ", source->no_vocabulary);
  return std::move(*source->vocabulary);
}
}  // namespace

tokens::Vocabulary vocabulary_of(fs::path const& path) {
  if (fs::is_directory(path)) {
    fs::path const file = path / "tokenizer.json";
    expect(fs::exists(file), path.string(), " holds no tokenizer.json");
    return tokens::read_tokenizer_json(file);
  }
  if (path.extension() == ".safetensors") return of_checkpoint(path);
  if (!is_gguf(path)) return tokens::read_tokenizer_json(path);
  auto vocabulary = read_vocabulary(Gguf(path));
  expect(vocabulary.has_value(), path.string(), " has no vocabulary (tokenizer.ggml.model)");
  return std::move(*vocabulary);
}

}  // namespace sextant::pretrained
