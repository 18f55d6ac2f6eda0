#include <sextant/base/error.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/rope_block.hpp>
#include <sextant/spec/spec.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::dialect {
using encoding::Option;
using encoding::Value;
using spec::number_text;

Choice const* only_scaling(Kind const& kind, char const* dialect) {
  auto const& options = kind.encoding.options;
  expect(kind.encoding.use == "rope", kind.encoding.use, " has no words in ", dialect, ", which describes rope alone");
  expect(!has(options, "turning"), "rope.turning is ", number_of(options, "turning").value_or(1), ", and ", dialect,
         " has no words for pairs that stand still",
         std::string_view(dialect) == "transformers 4" ? "; --to hf has" : "");
  expect(kind.scalings.size() <= 1, "the scalings are ", spec::label_of(kind.scalings), ", and ", dialect,
         " knows one at a time");
  return kind.scalings.empty() ? nullptr : &kind.scalings.front();
}

int channels_of(double share, int head_width, std::string const& where) {
  double const wanted = share * head_width;
  bool const legal =
      share > 0 && share <= 1 && std::abs(wanted - std::round(wanted)) < 1e-9 && std::llround(wanted) % 2 == 0;
  int const below = static_cast<int>(wanted / 2) * 2;
  expect(legal, where, " is ", share, ": ", wanted, " of ", head_width,
         " channels, expected an even whole number of them; nearby: ", below, " (", double(below) / head_width, "), ",
         std::min(below + 2, head_width / 2 * 2), " (", double(std::min(below + 2, head_width / 2 * 2)) / head_width,
         ")");
  return static_cast<int>(std::llround(wanted));
}

int reach_of(Form const& form) {
  for (auto const& scaling : form.kinds.front().scalings)
    if (scaling.use == "dynamic") {
      auto const original = number_of(scaling.options, "original_length");
      expect(original || form.trained_length > 0,
             "dynamic needs the trained length, as max_position_embeddings: give "
             "--trained");
      return original ? static_cast<int>(*original) : form.trained_length;
    }
  if (form.reach > 0 || form.trained_length == 0) return form.reach;
  double factor = 1;
  for (auto const& scaling : form.kinds.front().scalings)
    factor = std::max(factor, number_of(scaling.options, "factor").value_or(1));
  return static_cast<int>(std::lround(std::min(form.trained_length * factor, 1e9)));
}

Option const& option_of(Registry const& registry, char const* scaling, std::string const& name) {
  for (auto const& option : registry.describe(Role::scaling, scaling).options)
    if (option.name == name) return option;
  fail("the scaling ", scaling, " of this build has no option ", name);
}

namespace {
Choice computed(Choice scaling) {
  for (char const* name : {"attention_factor", "mscale", "mscale_all_dim"}) scaling.options.erase(name);
  return scaling;
}
}  // namespace

double relative_magnitude(Choice const& scaling, Kind const& kind, Form const& form, Registry const& registry,
                          Remarks& remarks) {
  if (computed(scaling).options == scaling.options) return 1;
  double const whole = magnitude(scaling, kind, form, registry);
  if (has(scaling.options, "mscale") && !has(scaling.options, "attention_factor"))
    remarks.lose(text("mscale and mscale_all_dim: the magnitude ", number_text(rounded(whole)),
                      " that they give is written, not the two"));
  return rounded(whole / magnitude(computed(scaling), kind, form, registry));
}

void multiply_magnitude(Choice& scaling, double relative, Kind const& kind, Form const& form,
                        Registry const& registry) {
  if (relative == 1) return;
  scaling.options["attention_factor"] = rounded(relative * magnitude(computed(scaling), kind, form, registry));
}

namespace {
std::vector<std::string> words_of(Method const& method) {
  std::vector<std::string> keys = {"rope_type", "type", "rope_theta", "partial_rotary_factor"};
  for (auto const& word : method.words) keys.push_back(word.key);
  if (method.magnitude == Magnitude::whole) keys.push_back("attention_factor");
  if (method.magnitude == Magnitude::relative)
    keys.insert(keys.end(), {"attn_factor", "extrapolation_factor", "apply_yarn_scaling"});
  if (method.magnitude == Magnitude::two_scales) keys.insert(keys.end(), {"short_mscale", "long_mscale"});
  if (std::string_view(method.type) == "yarn") keys.push_back("finetuned");
  return keys;
}

std::string type_of(Fields const& block) {
  auto const now = block.word("rope_type"), then = block.word("type");
  expect(!now || !then || *now == *then, block.place(), ": ", block.path(), " has rope_type ", now.value_or(""),
         " and type ", then.value_or(""), ", expected one of the two, or the same");
  if (now || then) return now ? *now : *then;
  for (auto const& entry : block.node().entries)
    if (entry.key != "rope_theta" && entry.key != "partial_rotary_factor")
      block.missing("rope_type", text("without it ", entry.key, " would have no effect"));
  return "default";
}

Method const* method_of(Fields const& block, Tongue const& tongue) {
  static Method const plain{"default", "", {}}, proportional{"proportional", "", {{"factor", "factor"}}};
  std::string const type = type_of(block);
  if (type == "default") return &plain;
  if (tongue.proportional && type == "proportional") return &proportional;
  std::string const place = (block.find("rope_type") ? block.find("rope_type") : block.find("type"))->place.text();
  std::vector<std::string> names = {"default"};
  if (tongue.proportional) names.push_back("proportional");
  for (auto const& method : tongue.methods) {
    if (type == method.type) return &method;
    names.push_back(method.type);
  }
  for (auto const& [name, why] : tongue.refused)
    expect(type != name, place, ": ", block.path(), " has the rope_type ", type, ", which has no translation: ", why);
  fail(place, ": ", block.path_of("rope_type"), " is ", type, ", expected one that ", tongue.name, " knows",
       did_you_mean(type, names), nearest(type, names).empty() ? "" : " (known: " + join(names) + ")");
}

void refuse_foreign(Fields const& block, Method const& method, Tongue const& tongue, bool pass_over) {
  auto known = words_of(method);
  for (auto const& other : tongue.methods)
    if (pass_over)
      for (auto const& word : words_of(other)) known.push_back(word);
  if (std::string_view(method.type) == "dynamic") known.push_back("original_max_position_embeddings");
  for (auto const& entry : block.node().entries)
    for (auto const& other : tongue.methods) {
      auto const theirs = words_of(other);
      bool const here = std::find(known.begin(), known.end(), entry.key) != known.end();
      if (!here && std::find(theirs.begin(), theirs.end(), entry.key) != theirs.end())
        fail(entry.place.text(), ": ", block.path_of(entry.key), " has no effect under rope_type ", method.type,
             "; it is a key of ", other.type, ", and ", method.type, " has ", join(known));
    }
  block.refuse_unknown(known, text("rope_type ", method.type, " of ", tongue.name));
}

/// original_max_position_embeddings, from where it stands, or what holds in its absence.
int original_of(Fields const& block, Method const& method, Surroundings const& around, Remarks& remarks) {
  auto const inside = block.whole("original_max_position_embeddings");
  if (around.original > 0) {
    expect(!inside || *inside == around.original, block.place(), ": original_max_position_embeddings is ",
           inside.value_or(0), " in ", block.path(), " and ", around.original, " beside it, expected one number");
    return around.original;
  }
  if (inside) return *inside;
  if (around.most == 0)
    block.missing("original_max_position_embeddings",
                  text(method.type, " needs the length the model was trained at before any extension"));
  remarks.assume(text("original_max_position_embeddings is not given: max_position_embeddings, ", around.most,
                      ", holds, as in transformers"));
  return around.most;
}

void read_factor(Fields const& block, Method const& method, int original, Surroundings const& around, Choice& scaling,
                 Registry const& registry, Remarks& remarks) {
  auto const& option = option_of(registry, method.scaling, "factor");
  double const implied = original > 0 && around.most > 0 ? double(around.most) / original : 0;
  if (auto const given = block.option("factor", option)) {
    scaling.options["factor"] = *given;
    double const said = number_of(scaling.options, "factor").value_or(0);
    if (implied > 0 && std::abs(implied / said - 1) > 1e-9 && original > 0)
      remarks.assume(text("factor ", number_text(said), " holds; max_position_embeddings / ",
                          "original_max_position_embeddings is ", number_text(implied),
                          ", which transformers 4.4x and 4.5x take in its place"));
    return;
  }
  if (implied == 0) block.missing("factor", text(method.type, " needs ", spec::introduce(option)));
  scaling.options["factor"] = rounded(std::max(1.0, implied));
  remarks.assume(text("factor is not given: max_position_embeddings / original_max_position_embeddings = ",
                      number_text(implied), " holds, as in transformers"));
}

void read_magnitude(Fields const& block, Method const& method, Choice& scaling, Kind const& kind, Form const& form,
                    Registry const& registry) {
  encoding::Range const positive = encoding::positive;
  if (method.magnitude == Magnitude::whole) {
    auto const given = block.option("attention_factor", option_of(registry, method.scaling, "attention_factor"));
    if (given) scaling.options["attention_factor"] = *given;
  } else if (method.magnitude == Magnitude::relative) {
    auto const mix = block.number("extrapolation_factor");
    expect(!mix || *mix == 1, block.place(), ": ", block.path_of("extrapolation_factor"), " is ", mix.value_or(1),
           ", expected 1: yarn here mixes whole or not at all");
    double const relative = block.number("attn_factor", positive).value_or(1);
    if (block.flag("apply_yarn_scaling").value_or(true))
      multiply_magnitude(scaling, relative, kind, form, registry);
    else
      scaling.options["attention_factor"] = relative;
  } else if (method.magnitude == Magnitude::two_scales) {
    auto const low = block.number("short_mscale", positive), high = block.number("long_mscale", positive);
    expect(low == high, block.place(), ": ", block.path(), " has short_mscale ", low.value_or(0), " and long_mscale ",
           high.value_or(0), " (0: not given), expected the same: longrope here has one magnitude");
    if (low) scaling.options["attention_factor"] = *low;
  }
}

// One of the two alone, or a zero, changes nothing in the released code.
void drop_idle_mscale(Choice& scaling, Remarks& remarks) {
  auto const mscale = number_of(scaling.options, "mscale"), all = number_of(scaling.options, "mscale_all_dim");
  if ((mscale && *mscale != 0 && all && *all != 0) || (!mscale && !all)) return;
  remarks.assume("mscale and mscale_all_dim work together and not when one is 0 or absent: neither has effect");
  scaling.options.erase("mscale");
  scaling.options.erase("mscale_all_dim");
}

Choice read_scaling(Fields const& block, Method const& method, BlockRead& out, Surroundings const& around,
                    Registry const& registry, Remarks& remarks) {
  Choice scaling{method.scaling, {}, {}};
  auto const takes = [&](char const* option) {
    return std::any_of(method.words.begin(), method.words.end(),
                       [&](Word const& w) { return std::string_view(w.option) == option; });
  };
  int const original = takes("original_length") ? original_of(block, method, around, remarks) : 0;
  if (original > 0) scaling.options["original_length"] = static_cast<std::int64_t>(original);
  for (auto const& word : method.words) {
    std::string_view const name = word.option;
    if (name == "original_length" || name == "factor") continue;
    Option const& option = option_of(registry, method.scaling, word.option);
    auto const value = block.option(word.key, option);
    if (!value && (!option.fallback || (word.needed && !around.as_transformers)))
      block.missing(word.key, text(method.type, " needs ", spec::introduce(option)));
    if (value) scaling.options[word.option] = *value;
  }
  if (takes("factor"))
    read_factor(block, method, original, around, scaling, registry, remarks);
  else if (std::string_view(method.scaling) == "longrope" && around.most > 0)
    scaling.options["factor"] = rounded(std::max(1.0, double(around.most) / original));
  if (takes("mscale")) drop_idle_mscale(scaling, remarks);
  bool const dynamic = std::string_view(method.type) == "dynamic";
  if (dynamic && around.most == 0 && around.original == 0)
    block.missing("max_position_embeddings", "dynamic needs the trained length, which stands beside the block");
  out.trained_length = original > 0 ? original : dynamic ? around.most : 0;
  Form form{.kinds = {}, .trained_length = out.trained_length, .reach = around.most, .head_width = around.head_width};
  read_magnitude(block, method, scaling, out.kind, form, registry);
  return scaling;
}

void read_turns(Fields const& block, bool proportional, Surroundings const& around, Options& options,
                Remarks& remarks) {
  auto const inside = block.number("rope_theta", encoding::above(1));
  if (inside || around.base)
    options["base"] = inside ? *inside : *around.base;
  else if (around.otherwise > 0) {
    options["base"] = around.otherwise;
    remarks.assume(
        text("rope_theta is not given: ", number_text(around.otherwise), " holds, the default of most model classes"));
  }
  auto const within = block.number("partial_rotary_factor", encoding::between(0, 1));
  auto const share = within ? within : around.share;
  if (!share || *share == 1) return;
  std::string const where = block.place() + ": partial_rotary_factor";
  if (proportional)
    options["turning"] = *share;
  else if (around.head_width == 0)
    options["share"] = *share;
  else if (around.as_transformers)
    options["rotary_dim"] = static_cast<std::int64_t>(*share * around.head_width);
  else
    options["rotary_dim"] = static_cast<std::int64_t>(channels_of(*share, around.head_width, where));
}
}  // namespace

BlockRead read_rope_block(Fields const& block, Tongue const& tongue, Surroundings const& around,
                          Registry const& registry, Remarks& remarks) {
  Method const& method = *method_of(block, tongue);
  refuse_foreign(block, method, tongue, around.as_transformers);
  BlockRead out;
  out.kind.encoding.use = "rope";
  bool const proportional = std::string_view(method.type) == "proportional";
  read_turns(block, proportional, around, out.kind.encoding.options, remarks);
  if (std::string_view(method.type) == "default") {
    out.trained_length = around.original > 0 ? around.original : around.most;
  } else if (proportional) {
    auto const factor = block.option("factor", option_of(registry, "linear", "factor"));
    if (factor && *factor != Value(1.0)) out.kind.scalings.push_back({"linear", {{"factor", *factor}}, {}});
    out.trained_length = out.kind.scalings.empty() ? around.most : 0;
  } else {
    out.kind.scalings.push_back(read_scaling(block, method, out, around, registry, remarks));
  }
  if (block.find("finetuned")) remarks.lose("finetuned: a note on the model's history, not on its rotation");
  return out;
}

}  // namespace sextant::dialect
