// config.json of transformers: rope_parameters (5.x, also one block a kind of layers) or rope_theta with rope_scaling (4.x).
#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/rope_block.hpp>

#include <algorithm>

namespace sextant::dialect {
namespace {
using encoding::LayerSet;
using spec::Node;

std::vector<std::string> const known = {"rope_parameters",
                                        "rope_scaling",
                                        "rope_theta",
                                        "rope_local_base_freq",
                                        "partial_rotary_factor",
                                        "max_position_embeddings",
                                        "original_max_position_embeddings",
                                        "head_dim",
                                        "qk_rope_head_dim",
                                        "hidden_size",
                                        "num_attention_heads",
                                        "num_hidden_layers",
                                        "layer_types",
                                        "sliding_window",
                                        "sliding_window_pattern",
                                        "no_rope_layers",
                                        "no_rope_layer_interval",
                                        "rope_interleave",
                                        "rope_interleaved",
                                        "qk_nope_head_dim",
                                        "qk_head_dim",
                                        "v_head_dim"};
std::vector<std::string> const kinds_of_layers = {"full_attention", "sliding_attention", "chunked_attention"};

int head_width_of(Fields const& config, Given const& given, Remarks& remarks) {
  if (auto const width = config.whole("qk_rope_head_dim")) {
    remarks.assume(text("the ", *width, " channels of qk_rope_head_dim are the head here: the others do not turn"));
    return *width;
  }
  if (auto const width = config.whole("head_dim")) return *width;
  auto const width = config.whole("hidden_size"), heads = config.whole("num_attention_heads");
  if (!width || !heads) return given.head_width;
  expect(*width % *heads == 0, config.place(), ": hidden_size is ", *width, " and num_attention_heads ", *heads,
         ", expected head_dim, or a width that the heads divide");
  return *width / *heads;
}

/// What GGUF files call a model_type; empty where this table does not know.
std::string architecture_of(std::string const& model_type) {
  static std::map<std::string, std::string> const names = {
      {"llama", "llama"},           {"mistral", "llama"},      {"qwen2", "qwen2"},    {"qwen3", "qwen3"},
      {"gemma3", "gemma3"},         {"gemma3_text", "gemma3"}, {"phi3", "phi3"},      {"deepseek_v2", "deepseek2"},
      {"deepseek_v3", "deepseek2"}, {"gpt_oss", "gpt-oss"},    {"smollm3", "smollm3"}};
  auto const found = names.find(model_type);
  return found == names.end() ? "" : found->second;
}

/// Layers of a kind by layer_types, or by "every n-th layer is full".
std::optional<LayerSet> layers_of(Fields const& config, std::string const& kind) {
  LayerSet set;
  if (Node const* types = config.find("layer_types")) {
    expect(types->is_list(), types->place.text(), ": layer_types is ", spec::found(*types), ", expected a list");
    for (std::size_t i = 0; i < types->items.size(); ++i)
      if (types->items[i].text == kind) set.list.push_back(static_cast<int>(i));
  } else {
    auto const every = config.whole("sliding_window_pattern"), count = config.whole("num_hidden_layers");
    for (int i = 0; every && count && i < *count; ++i)
      if (((i + 1) % *every == 0) == (kind == "full_attention")) set.list.push_back(i);
  }
  return set.list.empty() ? std::nullopt : std::optional(set);
}

/// Layers that turn at all, where some do not.
std::optional<LayerSet> turning_layers(Fields const& config) {
  LayerSet set;
  if (Node const* list = config.find("no_rope_layers")) {  // 1 at a layer that turns
    for (std::size_t i = 0; i < list->items.size(); ++i)
      if (list->items[i].text != "0") set.list.push_back(static_cast<int>(i));
    if (set.list.size() == list->items.size()) return std::nullopt;
  } else {
    auto const every = config.whole("no_rope_layer_interval"), count = config.whole("num_hidden_layers");
    if (!every || !count) return std::nullopt;
    for (int i = 0; i < *count; ++i)
      if ((i + 1) % *every != 0) set.list.push_back(i);
  }
  return set;
}

void read_nested(Read& out, Fields const& config, Fields const& block, Surroundings const& around, Tongue const& tongue,
                 Registry const& registry) {
  block.refuse_unknown(kinds_of_layers, "rope_parameters by kind of layer");
  for (auto const& entry : block.node().entries) {
    if (entry.value.kind == Node::Kind::null) {
      out.remarks.assume(text("layers of kind ", entry.key, " do not turn: their block is null"));
      continue;
    }
    expect(entry.value.is_map(), entry.value.place.text(), ": ", block.path_of(entry.key), " is ",
           spec::found(entry.value), ", expected a block");
    auto read = read_rope_block({entry.value, block.path_of(entry.key)}, tongue, around, registry, out.remarks);
    read.kind.name = entry.key;
    read.kind.encoding.layers = layers_of(config, entry.key);
    if (entry.key == "sliding_attention") read.kind.window = config.whole("sliding_window").value_or(0);
    out.form.trained_length = std::max(out.form.trained_length, read.trained_length);
    out.form.kinds.push_back(std::move(read.kind));
  }
  expect(!out.form.kinds.empty(), block.place(), ": ", block.path(), " has no kind of layer that turns");
}

void read_one(Read& out, Fields const& config, Fields const& block, Surroundings const& around, Tongue const& tongue,
              Registry const& registry) {
  auto read = read_rope_block(block, tongue, around, registry, out.remarks);
  out.form.trained_length = read.trained_length;
  auto const local = config.number("rope_local_base_freq", encoding::above(1));
  if (!local) read.kind.encoding.layers = turning_layers(config);
  out.form.kinds.push_back(std::move(read.kind));
  if (!local) return;
  auto& full =
      out.form.kinds.front();  // Gemma 3 as transformers 4 writes it: sliding layers turn by a base of their own
  full.name = "full_attention";
  full.encoding.layers = layers_of(config, full.name);
  Kind sliding{"sliding_attention", full.encoding, {}};
  sliding.encoding.options["base"] = *local;
  sliding.window = config.whole("sliding_window").value_or(0);
  sliding.encoding.layers = layers_of(config, sliding.name);
  out.form.kinds.push_back(std::move(sliding));
}

Read read(std::string const& text, std::string const& source, Given const& given, Registry const& registry, bool old) {
  Node const root = parse_json(text, source);
  Node const* const inner = root.find("text_config");
  bool const nested = inner && inner->is_map() && !root.find("rope_parameters") && !root.find("rope_theta");
  Fields const config(nested ? *inner : root, nested ? "text_config" : "");
  config.refuse_slips(known, {"rope", "rotary", "partial_rotary"}, "config.json");
  Node const *const now = config.find("rope_parameters"), *const then = config.find("rope_scaling");
  expect(!(old && now), source, ": has rope_parameters, the form of transformers 5; read it with --from hf");
  expect(!(now && then), source, ": has both rope_parameters and rope_scaling, expected one of them");
  for (Node const* block : {now, then})
    expect(!block || block->is_map(), block ? block->place.text() : "", ": ", now ? "rope_parameters" : "rope_scaling",
           " is ", block ? spec::found(*block) : "", ", expected a block or null");
  Read out;
  out.form.head_width = head_width_of(config, given, out.remarks);
  out.form.architecture = architecture_of(config.word("model_type").value_or(""));
  auto const base = config.number("rope_theta", encoding::above(1));
  Surroundings const around{.head_width = out.form.head_width,
                            .most = config.whole("max_position_embeddings").value_or(0),
                            .original = config.whole("original_max_position_embeddings").value_or(0),
                            .base = base             ? base
                                    : given.base > 0 ? std::optional(given.base)
                                                     : std::nullopt,
                            .share = config.number("partial_rotary_factor", encoding::between(0, 1)),
                            .otherwise = 10000};
  out.form.reach = around.most;
  Tongue const& tongue = now ? transformers() : old ? transformers4() : transformers();
  Node const empty = Node::map({source, 1, 1});
  Fields const block(now ? *now : then ? *then : empty, now ? "rope_parameters" : "rope_scaling");
  bool const by_layer = std::any_of(block.node().entries.begin(), block.node().entries.end(),
                                    [](auto const& entry) { return entry.value.is_map(); });
  if (by_layer)
    read_nested(out, config, block, around, tongue, registry);
  else
    read_one(out, config, block, around, tongue, registry);
  for (char const* key : {"rope_interleave", "rope_interleaved"})
    if (auto const pairs = config.flag(key))
      for (auto& kind : out.form.kinds) kind.encoding.options["layout"] = std::string(*pairs ? "interleaved" : "half");
  for (auto const& kind : out.form.kinds)
    for (auto const& scaling : kind.scalings)
      if (has(scaling.options, "mscale_all_dim") && config.find("qk_rope_head_dim"))
        out.remarks.lose(
            "that attention of DeepSeek models multiplies the softmax scale by (0.1 mscale_all_dim ln(factor) + 1)^2: "
            "it is no part of the rotation");
  if (given.trained_length > 0 && out.form.trained_length == 0) out.form.trained_length = given.trained_length;
  return out;
}

nlohmann::ordered_json head(Form const& form, Remarks& remarks) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  int const most = reach_of(form);
  if (most > 0)
    out["max_position_embeddings"] = most;
  else
    remarks.lose("max_position_embeddings: no length is said, so the reader's default will hold");
  if (form.head_width > 0) out["head_dim"] = form.head_width;
  for (auto const& kind : form.kinds)
    expect(!kind.name.empty() || !kind.encoding.layers,
           "rope acts in some layers only, and config.json names layers by kinds of attention");
  return out;
}

void write_layer_types(nlohmann::ordered_json& out, Form const& form) {
  int layers = 0;
  for (auto const& kind : form.kinds)
    if (kind.encoding.layers && !kind.encoding.layers->list.empty())
      layers = std::max(layers, kind.encoding.layers->list.back() + 1);
  for (int i = 0; i < layers; ++i)
    for (auto const& kind : form.kinds)
      if (kind.encoding.layers && kind.encoding.layers->holds(i)) out["layer_types"].push_back(kind.name);
}
}  // namespace

Read read_hf(std::string const& text, std::string const& source, Given const& given, Registry const& registry) {
  return read(text, source, given, registry, false);
}

Read read_hf_old(std::string const& text, std::string const& source, Given const& given, Registry const& registry) {
  return read(text, source, given, registry, true);
}

Text write_hf(Form const& form, Registry const& registry) {
  Text out;
  auto json = head(form, out.remarks);
  if (form.kinds.size() == 1) {
    json["rope_parameters"] = write_rope_block(form.kinds.front(), form, transformers(), registry, out.remarks);
  } else {
    write_layer_types(json, form);
    for (auto const& kind : form.kinds)
      json["rope_parameters"][kind.name] = write_rope_block(kind, form, transformers(), registry, out.remarks);
  }
  out.text = json.dump(2) + "\n";
  return out;
}

Text write_hf_old(Form const& form, Registry const& registry) {
  Text out;
  auto json = head(form, out.remarks);
  Kind const& first = form.kinds.front();
  auto block = write_rope_block(first, form, transformers4(), registry, out.remarks);
  for (char const* outside : {"rope_theta", "partial_rotary_factor"})
    if (block.contains(outside)) json[outside] = block[outside], block.erase(outside);
  if (form.kinds.size() > 1) {
    expect(form.kinds.size() == 2 && first.name == "full_attention" && form.kinds[1].scalings.empty(),
           "transformers 4 tells layers apart by rope_local_base_freq alone: sliding layers without a scaling");
    auto const sliding = write_rope_block(form.kinds[1], form, transformers4(), registry, out.remarks);
    json["rope_local_base_freq"] = sliding.at("rope_theta");
    write_layer_types(json, form);
  }
  if (block["rope_type"] == "default") {
    json["rope_scaling"] = nullptr;
  } else {
    block["type"] = block["rope_type"];  // what readers before 4.43 look for
    json["rope_scaling"] = block;
  }
  out.text = json.dump(2) + "\n";
  return out;
}

}  // namespace sextant::dialect
