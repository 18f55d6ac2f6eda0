// A model from the keys of a GGUF file. Source of the keys: gguf-py/gguf/constants.py and src/llama-model.cpp of llama.cpp.
#include <sextant/base/error.hpp>
#include <sextant/dialect/gguf_keys.hpp>
#include <sextant/pretrained/family.hpp>
#include <sextant/pretrained/rope.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::pretrained {
namespace {

class Keys {
 public:
  Keys(Gguf const& file, std::string arch) : file_(file), arch_(std::move(arch)) {}
  std::string name(char const* key) const { return arch_ + "." + key; }
  bool has(char const* key) const { return file_.has_key(name(key)); }

  int whole(char const* key) const {
    auto const found = file_.integer(name(key));
    expect(found >= 1 && found <= 1 << 30, file_.path(), ": ", name(key), " is ", found,
           ", expected a whole number from 1");
    return static_cast<int>(found);
  }
  int whole(char const* key, int fallback) const { return has(key) ? whole(key) : fallback; }
  double number(char const* key) const { return file_.number(name(key)); }

  /// A number for all layers; some files give a list, one a layer.
  int same_in_all_layers(char const* key, int fallback) const {
    if (!has(key)) return fallback;
    if (!std::holds_alternative<GgufArray>(file_.metadata().at(name(key)).value)) return whole(key);
    auto const list = file_.integers(name(key));
    bool const same = !list.empty() && std::equal(list.begin() + 1, list.end(), list.begin());
    expect(same, file_.path(), ": ", name(key), " differs from layer to layer, expected one number for all");
    return static_cast<int>(list.front());
  }

  /// Keys of the architecture that nobody here reads: each could change what the model computes.
  void refuse_others() const {
    static std::vector<std::string> const known = {"block_count",
                                                   "context_length",
                                                   "embedding_length",
                                                   "feed_forward_length",
                                                   "attention.head_count",
                                                   "attention.head_count_kv",
                                                   "attention.key_length",
                                                   "attention.value_length",
                                                   "attention.layer_norm_rms_epsilon",
                                                   "attention.sliding_window",
                                                   "vocab_size",
                                                   "attention.causal"};
    for (auto const& [key, value] : file_.metadata()) {
      if (!key.starts_with(arch_ + ".") || key.starts_with(arch_ + ".rope.")) continue;
      std::string const part = key.substr(arch_.size() + 1);
      expect(std::find(known.begin(), known.end(), part) != known.end(), file_.path(), ": key ", key, " (",
             value.text(), ") is not one that this import knows to keep or to leave", did_you_mean(part, known));
    }
    if (has("attention.causal"))
      expect(file_.flag(name("attention.causal")), file_.path(), ": ", name("attention.causal"),
             " is false, expected true");
  }

 private:
  Gguf const& file_;
  std::string arch_;
};

model::ModelConfig config_of_keys(Gguf const& file, Keys const& keys, Family const& family) {
  model::ModelConfig c;
  auto const& embedding = file.find("token_embd.weight");
  expect(embedding.shape.size() == 2, file.path(), ": token_embd.weight is ", embedding.shape,
         ", expected [vocabulary, width]");
  c.vocabulary = static_cast<int>(embedding.shape.front());
  c.layers = keys.whole("block_count");
  c.width = keys.whole("embedding_length");
  c.heads = keys.same_in_all_layers("attention.head_count", 0);
  c.kv_heads = keys.same_in_all_layers("attention.head_count_kv", c.heads);
  expect(c.heads > 0, file.path(), ": has no key ", keys.name("attention.head_count"));
  expect(keys.has("attention.key_length") || c.width % c.heads == 0, file.path(), ": ", keys.name("embedding_length"),
         " is ", c.width, ", expected a multiple of the ", c.heads, " heads, or ", keys.name("attention.key_length"));
  c.head_dim = keys.whole("attention.key_length", c.width / c.heads);
  int const value_dim = keys.whole("attention.value_length", c.head_dim);
  expect(value_dim == c.head_dim, file.path(), ": ", keys.name("attention.value_length"), " is ", value_dim,
         ", expected the width of a key, ", c.head_dim);
  c.mlp = family.mlp;
  c.mlp_width = keys.same_in_all_layers("feed_forward_length", 0);
  c.norm_eps = keys.number("attention.layer_norm_rms_epsilon");
  c.qk_norm = family.qk_norm;
  c.qkv_bias = file.has("blk.0.attn_q.bias");
  c.tie_embedding = !file.has("output.weight");
  c.embedding_scale = family.scales_embedding ? std::sqrt(double(c.width)) : 1;
  check_config(c, file.path());
  return c;
}

void check_vocabulary(Gguf const& file, Keys const& keys, int vocabulary) {
  auto const agrees = [&](std::string const& what, std::int64_t size) {
    expect(size == vocabulary, file.path(), ": ", what, " ", size, ", expected ", vocabulary,
           " as token_embd.weight has rows");
  };
  if (keys.has("vocab_size")) agrees(keys.name("vocab_size") + " is", keys.whole("vocab_size"));
  if (file.has_key("tokenizer.ggml.tokens"))
    agrees("the length of tokenizer.ggml.tokens is",
           static_cast<std::int64_t>(file.words("tokenizer.ggml.tokens").size()));
}
}  // namespace

Description describe(Gguf const& file, encoding::Registry const& registry) {
  std::string const arch = file.word("general.architecture");
  Family const& kind = family(arch, file.path() + ": general.architecture");
  Keys const keys(file, arch);
  keys.refuse_others();
  Description out;
  out.family = arch;
  if (file.has_key("general.name")) out.name = file.word("general.name");
  out.config = config_of_keys(file, keys, kind);
  check_vocabulary(file, keys, out.config.vocabulary);
  out.naming = Naming::gguf;
  out.rows = dialect::gguf_turns_neighbours(arch) ? RowOrder::neighbours : RowOrder::halves;
  out.context_length = keys.whole("context_length");
  read_rope(file, registry, out);
  if (keys.has("attention.sliding_window")) add_window(keys.whole("attention.sliding_window"), {}, out);
  return out;
}

}  // namespace sextant::pretrained
