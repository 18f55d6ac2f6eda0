#include <sextant/pretrained/note.hpp>

namespace sextant::pretrained {
namespace {
using Json = nlohmann::ordered_json;
using encoding::Choice;

Json to_json(encoding::Value const& value) {
  return std::visit(
      [](auto const& x) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, encoding::Auto>)
          return nullptr;
        else
          return x;
      },
      value);
}
encoding::Value value_from(Json const& json) {
  if (json.is_null()) return encoding::Auto{};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return json.get<std::vector<double>>();
}

Json to_json(std::vector<Choice> const& choices) {
  Json out = Json::array();
  for (auto const& choice : choices) {
    Json options = Json::object();
    for (auto const& [name, value] : choice.options) options[name] = to_json(value);
    Json item = {{"use", choice.use}, {"options", options}};
    if (!choice.parts.empty()) item["parts"] = to_json(choice.parts);
    if (choice.layers)
      item["layers"] = {{"every", choice.layers->every}, {"from", choice.layers->from}, {"list", choice.layers->list}};
    out.push_back(item);
  }
  return out;
}
std::vector<Choice> choices_from(Json const& json) {
  std::vector<Choice> out;
  for (auto const& item : json) {
    Choice choice{item.at("use"), {}, {}};
    for (auto const& [name, value] : item.at("options").items()) choice.options[name] = value_from(value);
    if (item.contains("parts")) choice.parts = choices_from(item["parts"]);
    if (item.contains("layers"))
      choice.layers =
          encoding::LayerSet{item["layers"].at("every"), item["layers"].at("from"), item["layers"].at("list")};
    out.push_back(std::move(choice));
  }
  return out;
}

// Members by name, in one list that both directions go through.
template <class Config, class F>
void each_member(Config& c, F const& f) {
  f("vocabulary", c.vocabulary);
  f("layers", c.layers);
  f("width", c.width);
  f("heads", c.heads);
  f("kv_heads", c.kv_heads);
  f("head_dim", c.head_dim);
  f("mlp", c.mlp);
  f("mlp_width", c.mlp_width);
  f("norm", c.norm);
  f("norm_eps", c.norm_eps);
  f("qk_norm", c.qk_norm);
  f("qkv_bias", c.qkv_bias);
  f("kv_shift", c.kv_shift);
  f("tie_embedding", c.tie_embedding);
  f("embedding_scale", c.embedding_scale);
  f("causal", c.causal);
}
// What may be absent is null.
template <class Words, class F>
void each_word(Words& v, F const& f) {
  f("where", v.where);
  f("model", v.model);
  f("pre", v.pre);
  f("tokens", v.tokens);
  f("types", v.types);
  f("scores", v.scores);
  f("merges", v.merges);
  f("bos", v.bos);
  f("eos", v.eos);
  f("unk", v.unk);
  f("pad", v.pad);
  f("add_bos", v.add_bos);
  f("add_eos", v.add_eos);
  f("add_space_prefix", v.add_space_prefix);
  f("splits", v.splits);
  f("ignore_merges", v.ignore_merges);
  f("nfc", v.nfc);
}
// What only a tokenizer.json says; checkpoints of a GGUF model may lack it.
template <class Words, class F>
void each_later_word(Words& v, F const& f) {
  f("prefix_space", v.prefix_space);
  f("unk_for_bytes", v.unk_for_bytes);
  f("fuse_unk", v.fuse_unk);
}
int bits_of(tokens::Strip const& strip) { return (strip.left ? 1 : 0) + (strip.right ? 2 : 0); }

template <class T>
void put(Json& to, T const& from) {
  to = from;
}
template <class T>
void put(Json& to, std::optional<T> const& from) {
  to = from ? Json(*from) : Json(nullptr);
}
template <class T>
void take(Json const& from, T& to) {
  to = from.get<T>();
}
template <class T>
void take(Json const& from, std::optional<T>& to) {
  if (!from.is_null()) to = from.get<T>();
}
}  // namespace

Json to_json(Description const& d) {
  Json out = {{"family", d.family},
              {"name", d.name},
              {"context_length", d.context_length},
              {"trained_length", d.position.trained_length},
              {"encodings", to_json(d.position.encodings)},
              {"scalings", to_json(d.position.scalings)},
              {"rotary_dim", d.rotary_dim}};
  each_member(d.config, [&](char const* name, auto const& value) { put(out["config"][name], value); });
  return out;
}
Description description_from(Json const& json) {
  Description out;
  out.family = json.at("family");
  out.name = json.at("name");
  out.context_length = json.at("context_length");
  out.position = {choices_from(json.at("encodings")), choices_from(json.at("scalings")), json.at("trained_length")};
  out.rotary_dim = json.at("rotary_dim");
  each_member(out.config, [&](char const* name, auto& value) { take(json.at("config").at(name), value); });
  out.naming = Naming::sextant;
  out.config.check();
  return out;
}

Json to_json(tokens::Vocabulary const& vocabulary) {
  Json out;
  auto const write = [&](char const* name, auto const& value) { put(out[name], value); };
  each_word(vocabulary, write);
  each_later_word(vocabulary, write);
  out["strips"] = Json::array();  // by token: 1 swallows white space before it, 2 behind it
  for (auto const& strip : vocabulary.strips) out["strips"].push_back(bits_of(strip));
  return out;
}
tokens::Vocabulary vocabulary_from(Json const& json) {
  tokens::Vocabulary out;
  each_word(out, [&](char const* name, auto& value) { take(json.at(name), value); });
  each_later_word(out, [&](char const* name, auto& value) {
    if (json.contains(name)) take(json.at(name), value);
  });
  if (json.contains("strips"))
    for (int const bits : json.at("strips").get<std::vector<int>>())
      out.strips.push_back({(bits & 1) != 0, (bits & 2) != 0});
  return out;
}

}  // namespace sextant::pretrained
