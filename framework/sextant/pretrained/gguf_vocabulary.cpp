#include <sextant/base/error.hpp>
#include <sextant/pretrained/gguf_vocabulary.hpp>

namespace sextant::pretrained {
namespace {
template <class T, class Read>
std::optional<T> maybe(Gguf const& file, std::string const& key, Read read) {
  if (!file.has_key("tokenizer.ggml." + key)) return std::nullopt;
  return static_cast<T>((file.*read)("tokenizer.ggml." + key));
}
}  // namespace

std::optional<tokens::Vocabulary> read_vocabulary(Gguf const& file) {
  auto const model = maybe<std::string>(file, "model", &Gguf::word);
  if (!model) return std::nullopt;
  tokens::Vocabulary out;
  out.where = file.path();
  out.model = *model;
  out.pre = maybe<std::string>(file, "pre", &Gguf::word).value_or("");
  out.tokens = file.words("tokenizer.ggml.tokens");
  if (file.has_key("tokenizer.ggml.token_type"))
    for (auto const type : file.integers("tokenizer.ggml.token_type")) {
      expect(type >= 1 && type <= 6, file.path(), ": tokenizer.ggml.token_type[", out.types.size(), "] is ", type,
             ", expected 1 to 6");
      out.types.push_back(static_cast<tokens::TokenType>(type));
    }
  if (file.has_key("tokenizer.ggml.scores"))
    for (double const score : file.numbers("tokenizer.ggml.scores")) out.scores.push_back(static_cast<float>(score));
  if (file.has_key("tokenizer.ggml.merges")) out.merges = file.words("tokenizer.ggml.merges");
  out.bos = maybe<std::int32_t>(file, "bos_token_id", &Gguf::integer);
  out.eos = maybe<std::int32_t>(file, "eos_token_id", &Gguf::integer);
  out.unk = maybe<std::int32_t>(file, "unknown_token_id", &Gguf::integer);
  out.pad = maybe<std::int32_t>(file, "padding_token_id", &Gguf::integer);
  out.add_bos = maybe<bool>(file, "add_bos_token", &Gguf::flag);
  out.add_eos = maybe<bool>(file, "add_eos_token", &Gguf::flag);
  out.add_space_prefix = maybe<bool>(file, "add_space_prefix", &Gguf::flag);
  return out;
}

}  // namespace sextant::pretrained
