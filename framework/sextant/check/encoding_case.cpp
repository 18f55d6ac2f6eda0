#include <sextant/base/error.hpp>
#include <sextant/check/cases.hpp>

#include <cmath>
#include <numbers>
#include <set>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Options;
using encoding::Value;

Choice split(char const* over, double first, double second, std::vector<Choice> parts) {
  expect(first >= 0 && second >= 0, "a hybrid gives one part ", first, " ", over, " and the other ", second);
  return {
      "direct_sum", {{"over", std::string(over)}, {"shares", std::vector<double>{first, second}}}, std::move(parts)};
}

EncodingCase grape_m(Parameters const& from) {
  Options const options{{"base", from.number("base", 10000)},
                        {"layout", from.word("layout", "interleaved")},
                        {"orientation", sense_of(from)},
                        {"per_head", from.flag("per_head", false)},
                        {"log_freq_scale", from.number("log_freq_scale", 1)}};
  return {{{{"grape_m", options, {}}}, {}, 0}, {{"log_freq", "grape_m.log_freq"}}};
}

EncodingCase grape_a(Parameters const& from) {
  Options const options{{"gate", from.word("gate", "k")},
                        {"use_slopes", from.flag("use_slopes", false)},
                        {"unit_gate", from.flag("unit_gate", false)},
                        {"unit_eps", from.number("unit_eps", 1e-6)}};
  return {{{{"grape_a", options, {}}}, {}, 0},
          {{"omega_raw", "grape_a.omega_raw"}, {"u_gate", "grape_a.key_gate"}, {"v_gate", "grape_a.query_gate"}}};
}

EncodingCase fox(Parameters const& from) {
  EncodingCase out{{{{"fox", {{"gate", from.word("gate", "full")}}, {}}}, {}, 0},
                   {{"w_f", "fox.forget_weight"}, {"b_f", "fox.forget_bias"}}};
  from.allow({"layout", "base"});
  if (from.flag("rope", false)) out.choice.encodings.push_back(rope_choice(from));
  return out;
}

Choice segmented_axis(Parameters const& from) {
  std::string const axis = from.word("axis", "dims");
  Options options{{"axis", axis}, {"layout", from.word("layout", "half")}, {"seg_start", from.list("seg_start")}};
  if (auto const rate = from.list("seg_rate"); !rate.empty()) options["seg_rate"] = rate;
  from.allow({"base", "seg_base"});  // each is for one axis only
  if (axis == "positions")
    options["base"] = from.number("base", 10000);
  else
    options["seg_base"] = from.list("seg_base");
  return {"segmented_theta", options, {}};
}

/// YaRN's temperature with frequencies left as they are: every pair counts as one that turns often enough to stay.
EncodingCase yarn_temperature(Parameters const& from, int head_dim) {
  EncodingCase out{{{rope_choice(from)}, {}, 0}, {}};
  double const factor = from.needed("factor"), strength = from.number("mscale", 1), base = from.number("base", 10000);
  if (factor <= 1) return out;
  double const length = 4096;
  // Rotations of a pair past the last one, so that the ramp begins beyond all pairs.
  double const few = length / (2 * std::numbers::pi * std::pow(base, 2 * (0.75 * head_dim) / head_dim));
  out.choice.scalings = {{"yarn",
                          {{"factor", factor},
                           {"original_length", length},
                           {"beta_fast", few},
                           {"beta_slow", few / 2},
                           {"mscale", strength},
                           {"mscale_all_dim", 0.0}},
                          {}}};
  return out;
}
}  // namespace

Parameters options_of(results::Group const& group) {
  static std::set<std::string> const of_tensors{"method", "family",  "source", "params", "B",     "H",
                                                "L",      "D",       "Dv",     "Dm",     "scale", "causal",
                                                "start",  "learned", "loss",   "note"};
  nlohmann::json all = nlohmann::json::object();
  for (auto const& [name, attribute] : group.attributes)
    if (!of_tensors.contains(name)) std::visit([&, &name = name](auto const& value) { all[name] = value; }, attribute);
  auto const given = nlohmann::json::parse(group.attribute<std::string>("params", std::string("{}")));
  expect(given.is_object(), "params is ", given.type_name(), ", expected an object");
  all.update(given);
  return Parameters(all);
}

EncodingCase alone(Choice choice, bool attends) {
  EncodingCase out;
  out.choice.encodings = {std::move(choice)};
  out.attends = attends;
  return out;
}

Choice rope_choice(Parameters const& from) {
  Options options{{"base", from.number("base", 10000)}, {"layout", from.word("layout", "half")}};
  if (int const turned = from.whole("rotary_dim", 0); turned > 0)
    options["rotary_dim"] = static_cast<std::int64_t>(turned);
  return {"rope", options, {}};
}

Value sense_of(Parameters const& from) {
  int const sense = from.whole("orientation", 1);
  expect(sense == 1 || sense == -1, "parameter orientation is ", sense, ", expected 1 or -1");
  return std::string(sense == 1 ? "counter_clockwise" : "clockwise");
}

Value count_option(Parameters const& from, std::string const& name, int fallback) {
  return static_cast<std::int64_t>(from.whole(name, fallback));
}

std::optional<EncodingCase> plain_case(CaseInput const& in) {
  auto const& [method, from, heads, head_dim, learned] = in;
  EncodingCase out;
  if (method == "nope") {
    out = alone({"nope", {}, {}});
  } else if (method == "sinusoidal") {
    out = alone({"sinusoidal",
                 {{"layout", from.word("layout", "interleaved")},
                  {"base", from.number("base", 10000)},
                  {"spacing", from.word("spacing", "standard")},
                  {"embed_scale", from.number("embed_scale", 1)}},
                 {}},
                false);
  } else if (method == "learned_absolute") {
    out =
        alone({"learned", {{"max_length", from.needed("max_len")}, {"embed_scale", from.number("embed_scale", 1)}}, {}},
              false);
    out.learned = {{"table", "learned.table"}};
  } else if (method == "rope") {
    out = alone(rope_choice(from));
  } else if (method == "alibi") {
    out = alone({"alibi",
                 {{"slope_exponent", from.number("slope_exponent", 8)},
                  {"slope_order", from.word("slope_order", "press")},
                  {"bias_max", from.number("bias_max", 0)},
                  {"train_slopes", learned("slopes")}},
                 {}});
    if (learned("slopes")) out.learned = {{"slopes", "alibi.slope"}};
  } else if (method == "t5") {
    out = alone({"t5",
                 {{"num_buckets", count_option(from, "num_buckets", 32)},
                  {"max_distance", from.number("max_distance", 128)},
                  {"bidirectional", from.flag("bidirectional", false)}},
                 {}});
    out.learned = {{"rel_bias", "t5.relative_bias", true}};
  } else if (method == "fox") {
    out = fox(from);
  } else if (method == "grape_m") {
    out = grape_m(from);
  } else if (method == "grape_a") {
    out = grape_a(from);
  } else if (method == "hybrid_dims") {
    double const turned = from.needed("rope_dims");
    out = alone(split("channels", turned, head_dim - turned, {rope_choice(from), {"alibi", {}, {}}}));
  } else if (method == "hybrid_heads") {
    double const turned = from.needed("rope_heads");
    out = alone(split("heads", turned, heads - turned, {rope_choice(from), {"alibi", {}, {}}}));
    out.choice.encodings[0].options["slope_set"] = from.word("slope_set", "subset");
  } else if (method == "segmented_theta") {
    out = alone(segmented_axis(from));
  } else if (method == "yarn_temperature") {
    out = yarn_temperature(from, head_dim);
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<EncodingCase> encoding_case(std::string const& method, Parameters const& from, int heads, int head_dim,
                                          std::function<bool(std::string const&)> const& learned) {
  CaseInput const in{method, from, heads, head_dim, learned};
  for (CaseFamily* family : {&plain_case, &bias_case, &remap_case, &row_case, &path_case, &dense_case, &grape_case})
    if (auto out = family(in)) {
      from.expect_all_known();
      return out;
    }
  return std::nullopt;
}

}  // namespace sextant::check
