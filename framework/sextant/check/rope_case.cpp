#include <sextant/base/error.hpp>
#include <sextant/check/rope_case.hpp>

#include <algorithm>
#include <map>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Options;

/// Keys of the file format; a method may carry some that it does not use, as model configurations do.
std::vector<std::string> const documented{"rope_type",
                                          "type",
                                          "rope_theta",
                                          "head_dim",
                                          "hidden_size",
                                          "num_attention_heads",
                                          "partial_rotary_factor",
                                          "factor",
                                          "beta_fast",
                                          "beta_slow",
                                          "truncate",
                                          "mscale",
                                          "mscale_all_dim",
                                          "attention_factor",
                                          "alpha",
                                          "beta",
                                          "long_factor",
                                          "short_factor",
                                          "seq_len",
                                          "low_freq_factor",
                                          "high_freq_factor",
                                          "max_position_embeddings",
                                          "original_max_position_embeddings"};

int head_dim_of(Parameters const& params) {
  int const given = params.whole("head_dim", 0);
  if (given > 0) return given;
  int const width = params.whole("hidden_size", 0), heads = params.whole("num_attention_heads", 0);
  expect(given == 0 && width > 0 && heads > 0, "parameter head_dim is ", given, ", expected a whole number > 0");
  return width / heads;
}

/// s: `factor`, else max_position_embeddings / L.
double factor_of(Parameters const& params, double original) {
  if (auto const given = params.number("factor")) return *given;
  auto const most = params.number("max_position_embeddings");
  expect(most && original > 0,
         "parameter factor is absent, and so is what it would follow from: "
         "max_position_embeddings and original_max_position_embeddings");
  return *most / original;
}

double original_length_of(Parameters const& params) {
  double const most = params.number("max_position_embeddings", 0);
  return params.number("original_max_position_embeddings", most);
}

/// The plugin of the same name: its factor, original length and numbers that the format calls as the plugin does.
Choice by_factor(std::string const& method, Parameters const& params, std::map<std::string, double> const& numbers) {
  double const original = original_length_of(params);
  Choice out{method, {{"factor", factor_of(params, original)}}, {}};
  if (method == "linear" || method == "ntk") return out;
  expect(original > 0, method, " needs original_max_position_embeddings");
  out.options["original_length"] = original;
  for (auto const& [name, fallback] : numbers) out.options[name] = params.number(name, fallback);
  return out;
}

Choice longrope(Parameters const& params) {
  Choice out = by_factor("longrope", params, {});
  for (char const* list : {"short_factor", "long_factor"}) out.options[list] = params.list(list);
  if (auto const given = params.number("attention_factor")) out.options["attention_factor"] = *given;
  return out;
}

/// The limit of the dynamic rule is max_position_embeddings, whatever else is given.
Choice dynamic(Parameters const& params) {
  auto const limit = params.number("max_position_embeddings");
  expect(limit.has_value(), "dynamic needs max_position_embeddings");
  return {"dynamic", {{"factor", params.number("factor", 1)}, {"original_length", *limit}}, {}};
}

Choice yarn(Parameters const& params) {
  Choice out = by_factor("yarn", params, {{"beta_fast", 32}, {"beta_slow", 1}});
  Options& options = out.options;
  options["truncate"] = params.flag("truncate", true);
  if (auto const given = params.number("attention_factor")) options["attention_factor"] = *given;
  // One of the two alone changes nothing: the rule of the released code, which the format follows.
  auto const mscale = params.number("mscale"), all = params.number("mscale_all_dim");
  if (mscale && all) options["mscale"] = *mscale, options["mscale_all_dim"] = *all;
  return out;
}

Choice segmented(Parameters const& params, int rotary_dim, std::string const& layout) {
  auto const pairs = params.list("segment_pairs"), thetas = params.list("segment_thetas");
  expect(!pairs.empty() && pairs.size() == thetas.size(), "segment_pairs has ", pairs.size(),
         " entries and segment_thetas ", thetas.size(), ", expected as many, at least one");
  std::vector<double> start;
  double all = 0;
  for (double n : pairs) start.push_back(all), all += n;
  expect(2 * all == rotary_dim, "segment_pairs sum to ", all, ", expected ", rotary_dim / 2, " (half the rotary dim)");
  return {"segmented_theta",
          {{"axis", std::string("dims")},
           {"exponent", params.word("segment_exponent", "global")},
           {"rotary_dim", double(rotary_dim)},
           {"layout", layout},
           {"seg_start", start},
           {"seg_base", thetas}},
          {}};
}
}  // namespace

std::optional<RopeCase> rope_case(std::string const& method, Parameters const& params, std::string const& layout) {
  static std::vector<std::string> const methods{"default", "linear",   "ntk",    "ntk_by_parts", "dynamic",
                                                "yarn",    "longrope", "llama3", "proportional", "segmented_theta"};
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) return std::nullopt;
  RopeCase out;
  params.allow(documented);
  out.head_dim = head_dim_of(params);
  out.length = params.number("seq_len", 0);
  double const share = params.number("partial_rotary_factor", 1);
  bool const proportional = method == "proportional";  // p-RoPE: the ladder of the whole head, of which a share turns
  out.rotary_dim = proportional ? out.head_dim / 2 * 2 : static_cast<int>(out.head_dim * share);
  expect(out.rotary_dim >= 2 && out.rotary_dim <= out.head_dim, "the rotary dim is ", out.rotary_dim, " (", share,
         " of ", out.head_dim, "), expected 2 to ", out.head_dim);
  out.choice.encodings = {
      {"rope",
       {{"base", params.number("rope_theta", 10000)}, {"rotary_dim", double(out.rotary_dim)}, {"layout", layout}},
       {}}};
  if (proportional) {
    out.choice.encodings[0].options["turning"] = share;
    if (double const factor = params.number("factor", 1); factor != 1)
      out.choice.scalings = {{"linear", {{"factor", factor}}, {}}};
  } else if (method == "linear" || method == "ntk")
    out.choice.scalings = {by_factor(method, params, {})};
  else if (method == "ntk_by_parts")
    out.choice.scalings = {by_factor(method, params, {{"alpha", 1}, {"beta", 32}})};
  else if (method == "llama3")
    out.choice.scalings = {by_factor(method, params, {{"low_freq_factor", 1}, {"high_freq_factor", 4}})};
  else if (method == "dynamic")
    out.choice.scalings = {dynamic(params)};
  else if (method == "longrope")
    out.choice.scalings = {longrope(params)};
  else if (method == "yarn")
    out.choice.scalings = {yarn(params)};
  else if (method == "segmented_theta")
    out.choice.encodings = {segmented(params, out.rotary_dim, layout)};
  params.expect_all_known();
  return out;
}

std::string absent_plugin(encoding::PositionChoice const& choice, encoding::Registry const& registry) {
  for (auto const& encoding : choice.encodings) {
    if (!registry.has(encoding::Role::encoding, encoding.use)) return encoding.use;
    if (auto const inner = absent_plugin({encoding.parts, {}, 0}, registry); !inner.empty()) return inner;
  }
  for (auto const& scaling : choice.scalings)
    if (!registry.has(encoding::Role::scaling, scaling.use)) return scaling.use;
  return "";
}

}  // namespace sextant::check
