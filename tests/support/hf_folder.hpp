// A folder as transformers saves a model, made from any model that is read: config.json, model.safetensors, tokenizer.json.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/pretrained/names.hpp>
#include <sextant/pretrained/source.hpp>

#include <sextant/base/json.hpp>

#include <cstring>

namespace sextant::test {

inline nlohmann::ordered_json hf_config(pretrained::Description const& d) {
  auto const& c = d.config;
  return {{"model_type", "llama"},
          {"vocab_size", c.vocabulary},
          {"hidden_size", c.width},
          {"intermediate_size", c.mlp_width},
          {"num_hidden_layers", c.layers},
          {"num_attention_heads", c.heads},
          {"num_key_value_heads", c.kv_heads},
          {"head_dim", c.head_dim},
          {"hidden_act", "silu"},
          {"rms_norm_eps", c.norm_eps},
          {"tie_word_embeddings", c.tie_embedding},
          {"max_position_embeddings", d.context_length},
          {"rope_theta", std::get<double>(d.position.encodings.front().options.at("base"))}};
}

/// Every parameter as float32, under transformers' names.
inline std::string hf_weights(pretrained::Source const& source, encoding::Registry const& registry) {
  auto const model = pretrained::load<float>(source, pretrained::position_of(source.description, registry));
  nlohmann::ordered_json head;
  std::string data;
  for (auto const& slice : model.layout().slices()) {
    if (slice.name.starts_with("position.")) continue;
    auto const values = model.parameter(slice.name);
    std::size_t const begin = data.size();
    data.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float));
    head[pretrained::stored_name(pretrained::Naming::transformers, slice.name)] = {
        {"dtype", "F32"}, {"shape", slice.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string const json = head.dump();
  std::uint64_t const size = json.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &size, 8);
  return out + json + data;
}

/// Byte-level BPE with GPT-2's cuts; what is not normal in the vocabulary is an added token.
inline nlohmann::ordered_json hf_tokenizer(tokens::Vocabulary const& v) {
  nlohmann::ordered_json vocab, added = nlohmann::ordered_json::array();
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    bool const normal = v.types.empty() || v.types[id] == tokens::TokenType::normal;
    if (normal)
      vocab[v.tokens[id]] = id;
    else
      added.push_back({{"id", id}, {"content", v.tokens[id]}, {"special", true}});
  }
  return {{"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", v.merges}}}};
}

/// The same model and tokenizer as `source`.
inline void write_hf_folder(fs::path const& folder, pretrained::Source const& source,
                            encoding::Registry const& registry) {
  fs::create_directories(folder);
  write_file_atomically(folder / "config.json", hf_config(source.description).dump(1));
  write_file_atomically(folder / "model.safetensors", hf_weights(source, registry));
  write_file_atomically(folder / "tokenizer.json", hf_tokenizer(*source.vocabulary).dump());
}

}  // namespace sextant::test
