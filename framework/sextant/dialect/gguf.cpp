// Keys of a GGUF file's metadata, as `key = value` lines (those of gguf_dump.py among them) or as JSON.
//
// Theirs: as llama.cpp's flags; ARCH.rope.scaling.attn_factor multiplies cos and sin on top of what yarn computes, and
// yarn_log_multiplier is mscale_all_dim beside an mscale of 1 (a tenth of it, and mscale equal to it, in deepseek2 files).
// Factors that divide frequencies are no keys but tensors of the file; in text they are lists under the tensors' names, and
// attn_factor is then the whole magnitude.
// Source: gguf-py/gguf/constants.py, convert_hf_to_gguf.py, src/llama-model.cpp and src/llama-context.cpp of llama.cpp.
#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/fields.hpp>
#include <sextant/dialect/gguf_keys.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/rope_block.hpp>

#include <algorithm>

namespace sextant::dialect {
namespace {
using spec::Node;

std::vector<std::string> const rope_keys = {"dimension_count",
                                            "dimension_count_swa",
                                            "freq_base",
                                            "freq_base_swa",
                                            "scale_linear",
                                            "scaling.type",
                                            "scaling.factor",
                                            "scaling.attn_factor",
                                            "scaling.original_context_length",
                                            "scaling.finetuned",
                                            "scaling.yarn_log_multiplier",
                                            "scaling.yarn_ext_factor",
                                            "scaling.yarn_attn_factor",
                                            "scaling.yarn_beta_fast",
                                            "scaling.yarn_beta_slow"};

std::string general_architecture(Node const& root, std::string const& source) {
  std::string found;
  if (Node const* named = root.find("general.architecture")) found = named->text;
  for (auto const& entry : root.entries) {
    auto const rope = entry.key.find(".rope.");
    if (rope == std::string::npos) continue;
    std::string const arch = entry.key.substr(0, rope);
    expect(found.empty() || found == arch, entry.place.text(), ": ", entry.key, " is a key of ", arch,
           ", expected keys of ", found);
    found = arch;
  }
  expect(!found.empty(), source, ": has neither general.architecture nor a key ARCH.rope....");
  return found;
}

void refuse_unknown_rope(Node const& root, std::string const& arch) {
  std::vector<std::string> known;
  for (auto const& key : rope_keys) known.push_back(arch + ".rope." + key);
  for (auto const& entry : root.entries)
    if (entry.key.starts_with(arch + ".rope") && std::find(known.begin(), known.end(), entry.key) == known.end())
      fail(entry.place.text(), ": ", entry.key, " is no key on rotation that is translated",
           did_you_mean(entry.key, known));
}

// mscale beside mscale_all_dim, as the loader takes the multiplier.
void read_log_multiplier(double multiplier, std::string const& arch, Choice& scaling) {
  if (multiplier == 0) return;
  bool const deepseek = arch.starts_with("deepseek2");
  double const all = deepseek ? rounded(multiplier / 0.1) : multiplier;
  scaling.options["mscale"] = deepseek ? all : 1.0;
  scaling.options["mscale_all_dim"] = all;
}

Choice read_yarn(Fields const& keys, std::string const& rope, double factor, std::string const& arch, Kind const& kind,
                 Form& form, Registry const& registry, Remarks& remarks) {
  Choice yarn{"yarn", {{"factor", factor}}, {}};
  if (form.trained_length == 0) keys.missing(rope + "scaling.original_context_length", "yarn's ramp lies by it");
  yarn.options["original_length"] = static_cast<std::int64_t>(form.trained_length);
  for (auto const& [key, option] :
       {std::pair{"scaling.yarn_beta_fast", "beta_fast"}, {"scaling.yarn_beta_slow", "beta_slow"}})
    if (auto const beta = keys.number(rope + key, encoding::positive)) yarn.options[option] = *beta;
  double const mix = keys.number(rope + "scaling.yarn_ext_factor").value_or(1);
  expect(mix == 1 || mix == -1, keys.place(), ": ", rope, "scaling.yarn_ext_factor is ", mix,
         ", expected 1: yarn here mixes whole or not at all");
  read_log_multiplier(keys.number(rope + "scaling.yarn_log_multiplier").value_or(0), arch, yarn);
  double const relative = keys.number(rope + "scaling.attn_factor", encoding::positive).value_or(1);
  double const of_yarn = keys.number(rope + "scaling.yarn_attn_factor", encoding::positive).value_or(1);
  if (of_yarn != 1)
    remarks.assume("yarn_attn_factor multiplies the magnitude; llama.cpp since December 2025 overwrites it");
  if (relative * of_yarn != 1) {
    Form at = form;
    double const own = magnitude(yarn, kind, at, registry);
    yarn.options.erase("mscale"), yarn.options.erase("mscale_all_dim");
    yarn.options["attention_factor"] = rounded(relative * of_yarn * own);
  }
  return yarn;
}

bool has_lists(Fields const& keys) { return keys.find(one_list) || keys.find(long_list) || keys.find(short_list); }

// One divisor a pair of channels.
encoding::Value read_list(Fields const& keys, char const* name, Form const& form, Registry const& registry) {
  auto const list = keys.option(name, option_of(registry, "longrope", "long_factor"));
  expect(list.has_value(), keys.place(), ": ", name, " is not here, and the other list is: expected both");
  auto const& turned = form.kinds.front().encoding.options;
  int const pairs = static_cast<int>(number_of(turned, "rotary_dim").value_or(form.head_width)) / 2;
  auto const count = std::get<std::vector<double>>(*list).size();
  expect(pairs == 0 || count == static_cast<std::size_t>(pairs), keys.find(name)->place.text(), ": ", name, " has ",
         count, " factors, expected ", pairs, ", one a pair of channels");
  return *list;
}

Choice read_lists(Fields const& keys, std::string const& rope, Form const& form, Registry const& registry) {
  bool const one = keys.find(one_list);
  expect(registry.has(Role::scaling, "longrope"), keys.place(), ": the frequencies are divided by the factors in ",
         one ? one_list : long_list,
         ", for which the scaling longrope is needed, and no plugin of that name is loaded");
  expect(!one || (!keys.find(long_list) && !keys.find(short_list)), keys.place(), ": the file has both ", one_list,
         " and lists for short and long texts, expected one of them");
  int const original = form.trained_length > 0 ? form.trained_length : form.reach;
  if (original == 0) keys.missing(rope + "scaling.original_context_length", "it says where the long list begins");
  Choice out{"longrope", {{"original_length", static_cast<std::int64_t>(original)}}, {}};
  out.options["factor"] = form.reach > original ? rounded(double(form.reach) / original) : 1.0;
  out.options["long_factor"] = read_list(keys, one ? one_list : long_list, form, registry);
  out.options["short_factor"] = read_list(keys, one ? one_list : short_list, form, registry);
  out.options["attention_factor"] = keys.number(rope + "scaling.attn_factor", encoding::positive).value_or(1);
  return out;
}

void read_scaling_keys(Read& out, Fields const& keys, std::string const& rope, std::string const& arch,
                       Registry const& registry) {
  auto const named = keys.word(rope + "scaling.type");
  std::string const type = named.value_or("linear");
  auto const factor_key = rope + (keys.find(rope + "scaling.factor") ? "scaling.factor" : "scale_linear");
  auto const& option = registry.describe(Role::scaling, "linear").options.front();
  auto const zero = keys.find(factor_key) && keys.find(factor_key)->text == "0";  // as good as absent to llama.cpp
  auto const given = zero ? std::nullopt : keys.option(factor_key, option);
  double const factor = given ? spec::as_double(*given) : 1;
  if (!named && factor != 1) out.remarks.assume("rope.scaling.type is not given: linear, as in llama.cpp");
  Kind& kind = out.form.kinds.front();
  if (type == "yarn") {
    expect(!has_lists(keys), keys.place(), ": the file has both factors of frequencies and the scaling yarn, expected ",
           "one of them");
    expect(given.has_value(), keys.place(), ": ", rope, "scaling.factor is missing: yarn needs it");
    kind.scalings.push_back(read_yarn(keys, rope, factor, arch, kind, out.form, registry, out.remarks));
    return;
  }
  expect(type == "linear" || type == "none" || type == "longrope", keys.place(), ": ", rope, "scaling.type is ", type,
         ", expected none, linear, yarn or longrope", did_you_mean(type, {"none", "linear", "yarn", "longrope"}));
  if (has_lists(keys)) {
    expect(factor == 1, keys.place(), ": the file has both factors of frequencies and the scaling ", type,
           ", expected one of them");
    kind.scalings.push_back(read_lists(keys, rope, out.form, registry));
    return;
  }
  expect(type != "longrope", keys.place(), ": ", rope, "scaling.type is longrope, and neither ", long_list, " nor ",
         short_list, " is here: its lists are tensors of the file");
  for (char const* idle : {"scaling.attn_factor", "scaling.yarn_attn_factor"})
    expect(keys.number(rope + idle).value_or(1) == 1, keys.place(), ": ", rope, idle, " is not 1 under ", type,
           ", which has no magnitude here");
  if (type == "linear" && factor != 1) kind.scalings.push_back({"linear", {{"factor", factor}}, {}});
}

void read_sliding(Read& out, Fields const& keys, std::string const& arch) {
  std::string const rope = arch + ".rope.";
  auto const base = keys.number(rope + "freq_base_swa", encoding::above(1));
  if (!base) return;
  auto& full = out.form.kinds.front();
  full.name = "full_attention";
  Kind sliding{"sliding_attention", full.encoding, {}};
  sliding.encoding.options["base"] = *base;
  sliding.window = keys.whole(arch + ".attention.sliding_window").value_or(0);
  out.form.kinds.push_back(std::move(sliding));
  out.remarks.assume("sliding layers turn by freq_base_swa without a scaling, as llama.cpp does for Gemma 3");
}

int key_width_of(Fields const& keys, std::string const& arch, Given const& told) {
  if (auto const width = keys.whole(arch + ".attention.key_length")) return *width;
  auto const width = keys.whole(arch + ".embedding_length"), heads = keys.whole(arch + ".attention.head_count");
  return width && heads ? *width / *heads : told.head_width;
}
}  // namespace

Read read_gguf(std::string const& text, std::string const& source, Given const& told, Registry const& registry) {
  Node const root = gguf_entries(text, source);
  std::string const arch = general_architecture(root, source), rope = arch + ".rope.";
  refuse_unknown_rope(root, arch);
  Fields const keys(root, "");
  int const context = keys.whole(arch + ".context_length").value_or(0);
  auto const original = keys.whole(rope + "scaling.original_context_length");
  Read out;
  out.form.architecture = arch;
  out.form.reach = context;
  out.form.head_width = key_width_of(keys, arch, told);
  Choice rotation{"rope", {{"base", keys.number(rope + "freq_base", encoding::above(1)).value_or(10000)}}, {}};
  if (!keys.find(rope + "freq_base")) out.remarks.assume("rope.freq_base is not given: 10000, as in llama.cpp");
  if (auto const turned = keys.whole(rope + "dimension_count", 2); turned && *turned != out.form.head_width) {
    bool const fits = *turned % 2 == 0 && (out.form.head_width == 0 || *turned < out.form.head_width);
    expect(fits, keys.find(rope + "dimension_count")->place.text(), ": ", rope, "dimension_count is ", *turned,
           ", expected an even number of the head's ", out.form.head_width, " channels");
    if (out.form.head_width > 0)
      rotation.options["rotary_dim"] = static_cast<std::int64_t>(*turned);
    else
      out.form.head_width = *turned;
  }
  if (gguf_turns_neighbours(arch) && !told.moves_rows) {
    rotation.options["layout"] = std::string("interleaved");
    out.remarks.assume("files of architecture " + arch +
                       " hold the rows of q and k pair by pair: layout interleaved; "
                       "transformers' weights of such a model are laid out half");
  }
  out.form.kinds = {{"", rotation, {}}};
  bool const scaled = keys.find(rope + "scaling.type") && keys.find(rope + "scaling.type")->text == "yarn";
  if (told.moves_rows) out.form.kinds.front().encoding.options["layout"] = std::string("half");
  out.form.trained_length = original ? *original : scaled || !keys.find(rope + "scaling.factor") ? context : 0;
  if (scaled && !original)
    out.remarks.assume("original_context_length is not given: context_length holds, as in llama.cpp");
  if (out.form.trained_length == 0) out.form.trained_length = told.trained_length;
  read_scaling_keys(out, keys, rope, arch, registry);
  read_sliding(out, keys, arch);
  if (keys.find(rope + "scaling.finetuned"))
    out.remarks.lose("rope.scaling.finetuned: a note on the model's history, not on its rotation");
  return out;
}

namespace {
class Lines {
 public:
  explicit Lines(std::string arch) : arch_(std::move(arch)) {}
  void put(std::string const& key, std::string const& value) { text_ += arch_ + "." + key + " = " + value + "\n"; }
  void put(std::string const& key, double value) { put(key, plain_number(value)); }
  void put_tensor(std::string const& name, std::string const& value) { text_ += name + " = " + value + "\n"; }
  std::string text() const { return "general.architecture = " + arch_ + "\n" + text_; }

 private:
  std::string arch_, text_;
};

std::string bracketed(std::vector<double> const& list) {
  std::vector<std::string> parts;
  for (double const value : list) parts.push_back(plain_number(value));
  return "[" + join(parts) + "]";
}

std::vector<double> whole_list(Choice const& scaling, char const* name, Kind const& kind, Form const& form) {
  auto list = std::get<std::vector<double>>(scaling.options.at(name));
  if (list.size() > 1) return list;
  double const turned = number_of(kind.encoding.options, "rotary_dim").value_or(form.head_width);
  expect(turned > 0, "longrope.", name, " is one number for all pairs, and a file holds one a pair: give --head-width");
  list.resize(static_cast<std::size_t>(turned / 2), list.front());
  return list;
}

void write_lists(Lines& lines, Choice const& scaling, Kind const& kind, Form const& form, Registry const& registry,
                 Remarks& remarks) {
  auto const lengthy = whole_list(scaling, "long_factor", kind, form),
             brief = whole_list(scaling, "short_factor", kind, form);
  auto const original = number_of(scaling.options, "original_length");
  double const trained = original ? *original : form.trained_length;
  expect(trained > 0, "longrope needs original_context_length, and no trained length is said: give --trained");
  lines.put("rope.scaling.type", "longrope");
  lines.put("rope.scaling.original_context_length", trained);
  if (double const whole = rounded(magnitude(scaling, kind, form, registry)); whole != 1)
    lines.put("rope.scaling.attn_factor", whole);
  lines.put_tensor(long_list, bracketed(lengthy));
  lines.put_tensor(short_list, bracketed(brief));
  remarks.lose(text(long_list, " and ", short_list, " are tensors of a file, float32 and no keys: write them there"));
  remarks.lose("the list is chosen by the length a sequence has; llama.cpp chooses it by the length it allocates");
  if (auto const kept = number_of(scaling.options, "kept_tokens"); kept && *kept > 0)
    remarks.lose(text("longrope.kept_tokens ", *kept, ": llama.cpp turns the first tokens as all others"));
}

void write_scaling_keys(Lines& lines, Choice const& scaling, Kind const& kind, Form const& form,
                        Registry const& registry, Remarks& remarks) {
  if (scaling.use == "longrope") return write_lists(lines, scaling, kind, form, registry, remarks);
  expect_llamacpp_knows(scaling);
  lines.put("rope.scaling.type", scaling.use);
  lines.put("rope.scaling.factor", *number_of(scaling.options, "factor"));
  auto const original = number_of(scaling.options, "original_length");
  double const trained = original ? *original : form.trained_length;
  expect(trained > 0 || scaling.use != "yarn",
         "yarn needs original_context_length, and no trained length is said: give --trained");
  if (trained > 0) lines.put("rope.scaling.original_context_length", trained);
  if (original && form.trained_length > 0 && *original != form.trained_length)
    remarks.lose(
        text("trained_length ", form.trained_length, ": original_context_length, ", *original, ", is written"));
  if (auto const beta = number_of(scaling.options, "beta_fast")) lines.put("rope.scaling.yarn_beta_fast", *beta);
  if (auto const beta = number_of(scaling.options, "beta_slow")) lines.put("rope.scaling.yarn_beta_slow", *beta);
  if (double const r = relative_magnitude(scaling, kind, form, registry, remarks); r != 1)
    lines.put("rope.scaling.attn_factor", r);
}
}  // namespace

Text write_gguf(Form const& form, Registry const& registry) {
  Text out;
  std::string const arch = form.architecture.empty() ? "llama" : form.architecture;
  if (form.architecture.empty()) out.remarks.assume("the architecture is not said: keys of llama (see --arch)");
  Lines lines(arch);
  Kind const kind = with_plain_base(form.kinds.front(), form, registry, out.remarks);
  Choice const* const scaling = only_scaling(kind, "GGUF keys");
  auto const base = number_of(kind.encoding.options, "base");
  expect(base.has_value(), "the base is the model's own, which the description does not show: give --base");
  expect(form.kinds.size() > 1 || !kind.encoding.layers,
         "rope acts in some layers only, and GGUF keys do not say which");
  if (int const reach = reach_of(form); reach > 0) lines.put("context_length", reach);
  auto const turned = number_of(kind.encoding.options, "rotary_dim");
  expect(!has(kind.encoding.options, "share"), "rope.share becomes a number of channels: give --head-width");
  if (form.head_width > 0) lines.put("attention.key_length", form.head_width);
  if (turned || form.head_width > 0) lines.put("rope.dimension_count", turned ? *turned : form.head_width);
  lines.put("rope.freq_base", *base);
  if (scaling) write_scaling_keys(lines, *scaling, kind, form, registry, out.remarks);
  if (form.kinds.size() > 1) {
    bool const two =
        form.kinds.size() == 2 && form.kinds[1].scalings.empty() && form.kinds[1].name == "sliding_attention";
    expect(two,
           "GGUF keys tell sliding layers apart by freq_base_swa alone: one more kind of layer, without a scaling");
    lines.put("rope.freq_base_swa", *number_of(form.kinds[1].encoding.options, "base"));
    out.remarks.lose("which layers slide: ARCH.attention.sliding_window_pattern says it, not a key on rotation");
  }
  bool const neighbours = word_of(kind.encoding.options, "layout", "half") == "interleaved";
  if (neighbours != gguf_turns_neighbours(arch))
    out.remarks.lose(text("layout ", neighbours ? "interleaved" : "half", ": files of architecture ", arch, " pair ",
                          neighbours ? "(f, f + n/2)" : "neighbours, so the converter moves the rows of q and k"));
  out.text = lines.text();
  return out;
}

}  // namespace sextant::dialect
