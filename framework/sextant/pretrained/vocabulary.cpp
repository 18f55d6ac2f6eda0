#include <sextant/base/error.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/gguf_vocabulary.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

namespace sextant::pretrained {

tokens::Vocabulary vocabulary_of(fs::path const& path) {
  if (fs::is_directory(path)) {
    fs::path const file = path / "tokenizer.json";
    expect(fs::exists(file), path.string(), " holds no tokenizer.json");
    return tokens::read_tokenizer_json(file);
  }
  if (path.extension() == ".safetensors") {
    auto checkpoint = open_checkpoint(path);
    expect(checkpoint && checkpoint->vocabulary, path.string(), " holds no tokenizer");
    return std::move(*checkpoint->vocabulary);
  }
  if (path.extension() != ".gguf") return tokens::read_tokenizer_json(path);
  auto vocabulary = read_vocabulary(Gguf(path));
  expect(vocabulary.has_value(), path.string(), " has no vocabulary (tokenizer.ggml.model)");
  return std::move(*vocabulary);
}

}  // namespace sextant::pretrained
