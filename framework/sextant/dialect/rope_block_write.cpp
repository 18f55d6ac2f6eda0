#include <sextant/base/error.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/rope_block.hpp>
#include <sextant/spec/spec.hpp>

#include <cmath>

namespace sextant::dialect {
namespace {
using nlohmann::ordered_json;

ordered_json json_of(encoding::Value const& value) {
  if (auto const* flag = std::get_if<bool>(&value)) return *flag;
  if (auto const* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (auto const* list = std::get_if<std::vector<double>>(&value)) return *list;
  return std::get<double>(value);
}

void write_magnitude(ordered_json& block, Method const& method, Choice const& scaling, Kind const& kind,
                     Form const& form, Registry const& registry, Remarks& remarks) {
  auto const given = number_of(scaling.options, "attention_factor");
  switch (method.magnitude) {
    case Magnitude::whole:
      if (given) block["attention_factor"] = *given;
      break;
    case Magnitude::relative:
      if (double const r = relative_magnitude(scaling, kind, form, registry, remarks); r != 1) block["attn_factor"] = r;
      break;
    case Magnitude::two_scales:
      if (given) block["short_mscale"] = block["long_mscale"] = *given;
      break;
    case Magnitude::none:
      expect(!given, scaling.use, ".attention_factor is ", given.value_or(1), ", and rope_type ", method.type,
             " has no words for it");
  }
}

void write_scaling(ordered_json& block, Choice const& scaling, Kind const& kind, Form const& form, Tongue const& tongue,
                   Registry const& registry, Remarks& remarks) {
  Method const* method = nullptr;
  for (auto const& candidate : tongue.methods)
    if (!method && scaling.use == candidate.scaling) method = &candidate;
  expect(method != nullptr, tongue.name, " has no rope_type for the scaling ", scaling.use);
  block["rope_type"] = method->type;
  std::vector<std::string> written = {"attention_factor"};
  for (auto const& word : method->words) {
    written.push_back(word.option);
    if (auto const it = scaling.options.find(word.option); it != scaling.options.end())
      block[word.key] = json_of(it->second);
    else if (word.needed)  // the plugin's default, written out
      block[word.key] = json_of(option_of(registry, method->scaling, word.option).fallback.value());
    else if (std::string_view(word.option) == "original_length")
      fail(scaling.use, " needs original_max_position_embeddings in ", tongue.name,
           ", and neither original_length nor a trained length is said: give --trained");
  }
  bool const folded = method->magnitude == Magnitude::relative;  // mscale goes into attn_factor
  for (auto const& [name, value] : scaling.options) {
    bool const mscale = name.starts_with("mscale");
    bool const known = std::find(written.begin(), written.end(), name) != written.end() || (mscale && folded);
    bool const by_length = scaling.use == "dynamic" && name == "original_length";  // it is max_position_embeddings
    bool const quotient = scaling.use == "longrope" && name == "factor";           // max_position_embeddings / original
    bool const kept = scaling.use == "longrope" && name == "kept_tokens";
    if (kept)
      remarks.lose(text("longrope.kept_tokens ", encoding::to_text(value), ": ", tongue.name,
                        " turns the first tokens as all others"));
    if (quotient && !known)
      remarks.lose("longrope.factor: the reader takes max_position_embeddings / original_max_position_embeddings");
    expect(known || by_length || quotient || kept, "rope_type ", method->type, " of ", tongue.name, " has no key for ",
           scaling.use, ".", name, " (", encoding::to_text(value), ")");
  }
  write_magnitude(block, *method, scaling, kind, form, registry, remarks);
  if (scaling.use == "longrope" && std::string_view(tongue.name) == "vLLM")
    remarks.lose("the list is chosen by the length a sequence has; vLLM chooses it by the length it allocates");
}

void write_trained(Choice const* scaling, Form const& form, Remarks& remarks) {
  int const trained = form.trained_length;
  if (trained == 0) return;
  auto const original = scaling ? number_of(scaling->options, "original_length") : std::nullopt;
  if (original && *original != trained)
    remarks.lose(text("trained_length ", trained, ": original_max_position_embeddings, ", *original,
                      ", is the only trained length that is written"));
  if (scaling && scaling->use == "linear")
    remarks.lose(text("trained_length ", trained,
                      ": max_position_embeddings is the length that the scaled model "
                      "takes, and rope_type linear has no other"));
}
}  // namespace

ordered_json write_rope_block(Kind const& whole, Form const& form, Tongue const& tongue, Registry const& registry,
                              Remarks& remarks) {
  Kind kind = with_plain_base(whole, form, registry, remarks);
  auto const turning = number_of(kind.encoding.options, "turning");
  bool const proportional = tongue.proportional && turning;
  if (proportional) kind.encoding.options.erase("turning");
  Choice const* const scaling = only_scaling(kind, tongue.name);
  ordered_json block = {{"rope_type", "default"}};
  if (auto const base = number_of(kind.encoding.options, "base")) block["rope_theta"] = *base;
  if (auto const turned = number_of(kind.encoding.options, "rotary_dim")) {
    expect(form.head_width > 0, "rope.rotary_dim is ", *turned, ", and ", tongue.name,
           " writes a share of the head: give --head-width");
    block["partial_rotary_factor"] = *turned / form.head_width;
  } else if (auto const share = number_of(kind.encoding.options, "share")) {
    block["partial_rotary_factor"] = *share;
  }
  if (word_of(kind.encoding.options, "layout", "half") == "interleaved")
    remarks.lose(text("layout interleaved: the model's code decides which channels pair up in ", tongue.name));
  if (proportional) {
    bool const fits = !block.contains("partial_rotary_factor") && (!scaling || scaling->use == "linear");
    expect(fits, "rope.turning goes with rope_type proportional, which takes a whole head and at most a linear factor");
    block["rope_type"] = "proportional";
    block["partial_rotary_factor"] = *turning;
    if (scaling) block["factor"] = *number_of(scaling->options, "factor");
  } else if (scaling) {
    write_scaling(block, *scaling, kind, form, tongue, registry, remarks);
  }
  write_trained(scaling, form, remarks);
  return block;
}

}  // namespace sextant::dialect
