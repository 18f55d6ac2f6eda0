// A model from the config.json that transformers saves beside the weights.
#include <sextant/base/error.hpp>
#include <sextant/dialect/fields.hpp>
#include <sextant/pretrained/family.hpp>
#include <sextant/pretrained/rope.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::pretrained {
namespace {
using dialect::Fields;

// Read here or by the dialect.
std::vector<std::string> const read_keys = {"model_type",
                                            "vocab_size",
                                            "hidden_size",
                                            "intermediate_size",
                                            "num_hidden_layers",
                                            "num_attention_heads",
                                            "head_dim",
                                            "hidden_act",
                                            "num_key_value_heads",
                                            "hidden_activation",
                                            "rms_norm_eps",
                                            "tie_word_embeddings",
                                            "attention_bias",
                                            "mlp_bias",
                                            "sliding_window",
                                            "use_sliding_window",
                                            "max_window_layers",
                                            "layer_types",
                                            "max_position_embeddings",
                                            "rope_theta",
                                            "rope_scaling",
                                            "rope_parameters",
                                            "rope_interleaved",
                                            "partial_rotary_factor",
                                            "pretraining_tp"};

// Of training, generation and bookkeeping: they change nothing in what a model computes from tokens.
std::vector<std::string> const idle_keys = {"_name_or_path",
                                            "architectures",
                                            "attention_dropout",
                                            "auto_map",
                                            "bos_token_id",
                                            "dtype",
                                            "eos_token_id",
                                            "initializer_range",
                                            "is_llama_config",
                                            "pad_token_id",
                                            "torch_dtype",
                                            "transformers_version",
                                            "transformers.js_config",
                                            "use_cache",
                                            "output_attentions",
                                            "output_hidden_states",
                                            "return_dict",
                                            "problem_type",
                                            "id2label",
                                            "label2id",
                                            "unk_token_id",
                                            "unsloth_version",
                                            "unsloth_fixed",
                                            "_attn_implementation",
                                            "_attn_implementation_autoset"};

void refuse_others(Fields const& config) {
  std::vector<std::string> known = read_keys;
  known.insert(known.end(), idle_keys.begin(), idle_keys.end());
  config.refuse_unknown(known, "a configuration that this import knows");
}

template <class T>
T needed(Fields const& config, std::string const& key, std::optional<T> value) {
  if (!value) config.missing(key, "the model's sizes follow from it");
  return *value;
}

// A setting of which only one value is computed here.
template <class T>
void expect_only(Fields const& config, std::string const& key, std::optional<T> const& found, T const& computed) {
  expect(!found || *found == computed, config.place(), ": ", key, " is ", found.value_or(computed), ", expected ",
         computed);
}

void check_activation(Fields const& config, Family const& family) {
  auto const given = config.word(config.find("hidden_activation") ? "hidden_activation" : "hidden_act");
  if (!given) return;
  bool const gelu =
      family.mlp == model::MlpKind::geglu;  // Gemma's "gelu" means the one with tanh, as transformers has it
  bool const fits = gelu ? *given == "gelu_pytorch_tanh" || *given == "gelu" : *given == "silu";
  expect(fits, config.place(), ": hidden_act is ", *given, ", expected ", gelu ? "gelu_pytorch_tanh" : "silu", " in a ",
         family.name, " model");
}

model::ModelConfig config_of(Fields const& config, Family const& family) {
  auto const whole = [&](char const* key) { return needed(config, key, config.whole(key)); };
  model::ModelConfig c;
  c.vocabulary = whole("vocab_size");
  c.layers = whole("num_hidden_layers");
  c.width = whole("hidden_size");
  c.heads = whole("num_attention_heads");
  c.kv_heads = config.whole("num_key_value_heads").value_or(c.heads);
  auto const head = config.whole("head_dim");
  expect(head || c.width % c.heads == 0, config.place(), ": hidden_size is ", c.width, ", expected a multiple of the ",
         c.heads, " heads, or head_dim");
  c.head_dim = head.value_or(c.width / c.heads);
  c.mlp = family.mlp;
  c.mlp_width = whole("intermediate_size");
  c.norm_eps = needed(config, "rms_norm_eps", config.number("rms_norm_eps", encoding::positive));
  c.qk_norm = family.qk_norm;
  c.qkv_bias = family.qkv_bias;
  c.tie_embedding = config.flag("tie_word_embeddings").value_or(family.ties_embedding);
  c.embedding_scale = family.scales_embedding ? std::sqrt(double(c.width)) : 1;
  expect_only<bool>(config, "attention_bias", config.flag("attention_bias"), family.qkv_bias);
  expect_only<bool>(config, "mlp_bias", config.flag("mlp_bias"), false);
  expect_only<int>(config, "pretraining_tp", config.whole("pretraining_tp"), 1);
  expect_only<bool>(config, "rope_interleaved", config.flag("rope_interleaved"), false);
  check_activation(config, family);
  check_config(c, config.place());
  return c;
}

// Which layers see a window: as layer_types says, else those from max_window_layers on (Qwen) or all (Mistral).
void read_window(Fields const& config, Description& out) {
  auto const window = config.whole("sliding_window");
  bool const used = config.flag("use_sliding_window").value_or(out.family == "mistral");  // transformers' defaults
  if (!window || !used) return;
  encoding::LayerSet layers;
  if (auto const* types = config.find("layer_types")) {
    expect(types->is_list() && types->items.size() == std::size_t(out.config.layers), types->place.text(),
           ": layer_types is ", spec::found(*types), ", expected a list of ", out.config.layers);
    for (int i = 0; i < out.config.layers; ++i) {
      auto const& type = types->items[static_cast<std::size_t>(i)];
      if (type.text == "sliding_attention")
        layers.list.push_back(i);
      else
        expect(type.text == "full_attention", type.place.text(), ": layer_types[", i, "] is ", spec::found(type),
               ", expected full_attention or sliding_attention");
    }
    if (layers.list.empty()) return;
  } else if (auto const first = config.whole("max_window_layers", 0)) {
    for (int i = *first; i < out.config.layers; ++i) layers.list.push_back(i);
    if (layers.list.empty()) return;
  }
  bool const all = layers.list.empty() || static_cast<int>(layers.list.size()) == out.config.layers;
  add_window(*window, all ? std::nullopt : std::optional(layers), out);
}
}  // namespace

Description describe(std::string const& config_json, std::string const& source, encoding::Registry const& registry) {
  spec::Node const root = dialect::parse_json(config_json, source);
  Fields const config(root, "");
  Description out;
  out.family = needed(config, "model_type", config.word("model_type"));
  Family const& kind = family(out.family, source + ": model_type");
  refuse_others(config);
  out.config = config_of(config, kind);
  out.naming = Naming::transformers;
  out.rows = RowOrder::halves;
  out.gains_less_one = kind.gains_less_one;
  out.context_length = needed(config, "max_position_embeddings", config.whole("max_position_embeddings"));
  if (auto const name = config.word("_name_or_path")) out.name = *name;
  read_rope(config_json, source, registry, out);
  read_window(config, out);
  return out;
}

}  // namespace sextant::pretrained
