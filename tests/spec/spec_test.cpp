#include "made_up.hpp"

#include <sextant/base/error.hpp>
#include <sextant/spec/spec.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using spec::Spec;

// The least that a spec must say.
std::string const least = R"(sextant: 1
study: least
model: {layers: 2, width: 64, heads: 4}
position: {encoding: rope}
data: {corpus: kjv}
train:
  steps: 100
  length: 64
  batch: 256 tokens
  optimiser: {rate: 1e-3}
  seeds: [0]
evaluate:
  - {use: lm_loss, lengths: [64, 128], windows: 8}
)";

Spec read(std::string const& text, spec::Overrides const& overrides = {}) {
  return spec::read_spec(text, "f", overrides, test::made_up_plugins());
}
Spec set(std::vector<std::string> sets) { return read(least, {.tier = {}, .sets = std::move(sets)}); }
spec::Setting const& setting(Spec const& spec) { return spec.arms.at(0).setting; }

std::string without_comments(std::string const& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "  #") == 0) i = text.find('\n', i);
    out += text[i];
  }
  return out;
}

TEST_CASE("spec: what is left out takes its documented default", "[spec]") {
  Spec const spec = read(least);
  auto const& model = setting(spec).model;
  CHECK(model.kv_heads == 4);
  CHECK(model.head_width == 16);
  CHECK(model.mlp.width == 192);
  CHECK(model.tie_embedding);
  CHECK(setting(spec).position.trained_length == 64);
  CHECK(setting(spec).train.rows == 4);
  CHECK(setting(spec).train.seeds == std::vector<std::int64_t>{0});
  CHECK_FALSE(setting(spec).data.order.seed.has_value());
  CHECK_FALSE(setting(spec).evaluate[0].context.has_value());
  CHECK(setting(spec).evaluate[0].name == "lm_loss");
  CHECK(spec.title == "least");
  CHECK(spec.tier == "small");
  CHECK(spec.arms.size() == 1);
  CHECK(spec.arms[0].label == "rope");
  CHECK(spec.arms[0].views.at(0).label == "none");
}

TEST_CASE("spec: the resolved text shows every default, marks it, and reads back to itself", "[spec][R24][R46]") {
  Spec const spec =
      set({"train.optimiser.rate=0.1", "model.norm.eps=1.000000001e-5", "question='no: \"#\" \\'", "study=no"});
  CHECK_THAT(spec.resolved, ContainsSubstring("kv_heads: 4  # default\n"));
  CHECK_THAT(
      spec.resolved,
      ContainsSubstring(
          "encoding: {use: rope, base: 10000, layout: half, rotary_dim: auto}  # default: base, layout, rotary_dim\n"));
  Spec const again = read(spec.resolved);
  CHECK(without_comments(again.resolved) == without_comments(spec.resolved));
  CHECK(again.question == "no: \"#\" \\");
  CHECK(again.study == "no");
  CHECK(setting(again).train.optimiser.rate == 0.1);
  CHECK(setting(again).model.norm.eps == setting(spec).model.norm.eps);
}

TEST_CASE("spec: eight, 8.0 and 8e0 are one value, and a half-token is none", "[spec][R23]") {
  auto const resolved = [](char const* factor) {
    return set({text("position.scaling={use: yarn, factor: ", factor, "}")}).resolved;
  };
  CHECK(resolved("8.0") == resolved("8"));
  CHECK(resolved("8e0") == resolved("8"));
  CHECK(resolved("7.5") != resolved("8"));
  auto const original = [](char const* length) {
    return set({text("position.scaling={use: yarn, factor: 8, original_length: ", length, "}")}).resolved;
  };
  CHECK(original("4096.0") == original("4096"));
  CHECK_THROWS_MATCHES(
      original("4096.5"), Error,
      MessageMatches(ContainsSubstring("position.scaling.original_length is 4096.5, expected a whole number >= 1")));
  CHECK_THROWS_MATCHES(resolved("\"8\""), Error,
                       MessageMatches(ContainsSubstring("is the text \"8\", expected a number")));
}

TEST_CASE("spec: one grammar of numbers in files, overrides and sweep lists", "[spec][R46]") {
  for (char const* rate : {"1e-3", "1E-3", "1.e-3", ".001"}) {
    CHECK(setting(set({text("train.optimiser.rate=", rate)})).train.optimiser.rate == 0.001);
    auto const swept = read(least + text("vary: [{key: train.optimiser.rate, stage: train, values: [", rate, "]}]\n"));
    CHECK(setting(swept).train.optimiser.rate == 0.001);
  }
  CHECK(setting(set({"train.steps=1e5"})).train.steps == 100000);
  CHECK(setting(set({"train.steps=+300"})).train.steps == 300);
  CHECK(setting(set({"train.steps=1e2 steps"})).train.steps == 100);
  CHECK_THROWS_MATCHES(set({"train.steps=1_000"}), Error,
                       Message("--set train.steps=1_000: train.steps is 1_000, expected a whole number >= 0 (steps)"));
}

TEST_CASE("spec: only true and false are booleans, and a text field takes any word", "[spec][R47]") {
  CHECK(setting(set({"model.qk_norm=true"})).model.qk_norm);
  for (char const* wrong : {"yes", "on", "1", "\"true\"", "True", "y"}) {
    INFO(wrong);
    CHECK_THROWS_MATCHES(set({text("model.qk_norm=", wrong)}), Error,
                         MessageMatches(ContainsSubstring("expected true or false")));
  }
  CHECK(set({"study=off"}).study == "off");
  CHECK(set({"title=no"}).title == "no");
  CHECK(set({"title='true'"}).title == "true");
}

TEST_CASE("spec: amounts carry their units", "[spec]") {
  Spec const spec =
      set({"budget={wall: 40min, memory: 6GiB}", "train.batch=16 rows", "train.schedule.warmup=10 steps"});
  CHECK(spec.budget.wall == 2400.0);
  CHECK(spec.budget.memory == 6442450944.0);
  CHECK(setting(spec).train.rows == 16);
  CHECK(setting(spec).train.schedule.warmup == 10);
  CHECK_THROWS_MATCHES(set({"budget.wall=40"}), Error, MessageMatches(ContainsSubstring("the unit is missing")));
  CHECK_THROWS_MATCHES(set({"train.steps=40 tokens"}), Error,
                       MessageMatches(ContainsSubstring("expected a whole number")));
  CHECK_THROWS_MATCHES(set({"train.batch=100 tokens"}), Error,
                       MessageMatches(ContainsSubstring("such as 64 or 128 tokens")));
}

TEST_CASE("spec: seed 0 is a seed like any other", "[spec][R52]") {
  CHECK(setting(set({"train.seeds=[0, 1]"})).train.seeds == std::vector<std::int64_t>{0, 1});
  CHECK(setting(set({"data.order.seed=0"})).data.order.seed == 0);
  CHECK_THROWS_MATCHES(set({"train.seeds=[0, 0]"}), Error, MessageMatches(ContainsSubstring("has 0 twice")));
}

TEST_CASE("spec: a misspelt key is refused at any depth, in files and overrides, with the nearest key and its default",
          "[spec][R21]") {
  CHECK_THROWS_MATCHES(read(least + "lables: 1\n"), Error,
                       MessageMatches(ContainsSubstring("f:14:1: lables: a spec has no key lables")));
  CHECK_THROWS_MATCHES(
      set({"train.lerning_rate=1"}), Error,
      MessageMatches(ContainsSubstring("--set train.lerning_rate=1: train.lerning_rate: train has no key")));
  CHECK_THROWS_MATCHES(
      set({"train.optimiser.rat=1"}), Error,
      Message("--set train.optimiser.rat=1: train.optimiser.rat: train.optimiser has no key rat; did you mean "
              "rate (a number > 0, required)?"));
  CHECK_THROWS_MATCHES(set({"train.qk_norm=true"}), Error,
                       MessageMatches(ContainsSubstring("it belongs at model.qk_norm")));
  CHECK_THROWS_MATCHES(
      set({"position.scaling={use: yarn, factor: 4, attn_factor: 0.88}"}), Error,
      MessageMatches(ContainsSubstring(
          "yarn has no option attn_factor; did you mean attention_factor (a number > 0, or auto, default auto)?")));
}

TEST_CASE("spec: an unknown plugin is refused with those that are loaded", "[spec][R22]") {
  CHECK_THROWS_MATCHES(
      set({"position.scaling={use: yarnn, factor: 4}"}), Error,
      Message("--set position.scaling={use: yarnn, factor: 4}: position.scaling.use is yarnn, expected the name of "
              "a loaded scaling; did you mean yarn? (known: linear, ntk, yarn)"));
  CHECK_THROWS_MATCHES(set({"position.encoding=yarn"}), Error,
                       MessageMatches(ContainsSubstring("write it under position.scaling")));
  for (auto const& name : test::made_up_plugins().names(encoding::Role::scaling))
    CHECK(setting(set({text("position.scaling={use: ", name, ", factor: 2}")})).position.scalings.at(0).use == name);
}

TEST_CASE("spec: a required option that is missing is named with its plugin", "[spec][R24]") {
  CHECK_THROWS_MATCHES(set({"position.scaling=linear"}), Error,
                       MessageMatches(ContainsSubstring(
                           "position.scaling.factor is missing: linear needs factor (a number >= 1, or auto")));
}

TEST_CASE("spec: an encoding may be limited to layers, every n-th from one on or those listed", "[spec][layers]") {
  auto const encodings = [](Spec const& spec) { return setting(spec).position.encodings; };
  Spec const spec = set({"model.layers=8",
                         "position.encoding=[{use: rope, layers: {every: 4, from: 3}}, {use: nope, layers: [0, 1, 7]}, "
                         "{use: direct_sum, parts: [rope, alibi], layers: {from: 2}}, alibi]"});
  auto const read_in = [&](std::size_t n) {
    std::vector<int> layers;
    for (int layer = 0; layer < 8; ++layer)
      if (!encodings(spec)[n].layers || encodings(spec)[n].layers->holds(layer)) layers.push_back(layer);
    return layers;
  };
  CHECK(read_in(0) == std::vector<int>{3, 7});
  CHECK(read_in(1) == std::vector<int>{0, 1, 7});
  CHECK(read_in(2) == std::vector<int>{2, 3, 4, 5, 6, 7});
  CHECK_FALSE(encodings(spec)[3].layers.has_value());
  CHECK_THAT(spec.resolved, ContainsSubstring("layers: {every: 4, from: 3}}, {use: nope, layers: [0, 1, 7]}, "));
  Spec const again = read(spec.resolved);
  CHECK(without_comments(again.resolved) == without_comments(spec.resolved));
  for (std::size_t n = 0; n < 4; ++n) CHECK(encodings(again)[n].layers == encodings(spec)[n].layers);
  CHECK(encodings(set({"position.encoding.layers=[1]"}))[0].layers->list == std::vector<int>{1});
}

TEST_CASE("spec: layers are the encodings' alone", "[spec][layers]") {
  CHECK_THROWS_MATCHES(set({"position.scaling={use: linear, factor: 2, layers: [0]}"}), Error,
                       MessageMatches(ContainsSubstring("linear has no option layers")));
}

TEST_CASE("spec: an option may be set on a plugin that is given by name alone", "[spec][R18]") {
  Spec const spec = set({"position.encoding.base=500000"});
  auto const& choice = setting(spec).position.encodings.at(0);
  CHECK(choice.use == "rope");
  CHECK(std::get<double>(choice.options.at("base")) == 500000);
}

TEST_CASE("spec: a tier changes the keys it names, and a wrong tier is found before it is chosen", "[spec]") {
  std::string const tiers =
      least + "tiers: {smoke: {train.steps: 5, evaluate.lm_loss.windows: 2}, article: {train.steps: 10000}}\n";
  CHECK(setting(read(tiers)).train.steps == 100);
  Spec const smoke = read(tiers, {.tier = "smoke", .sets = {}});
  CHECK(smoke.tier == "smoke");
  CHECK(setting(smoke).train.steps == 5);
  CHECK(setting(smoke).evaluate[0].windows == 2);
  CHECK(setting(read(tiers, {.tier = "smoke", .sets = {"train.steps=6"}})).train.steps == 6);
  CHECK(setting(read("tier: article\n" + tiers)).train.steps == 10000);
  CHECK(without_comments(read(smoke.resolved).resolved) == without_comments(smoke.resolved));
  CHECK_THROWS_MATCHES(read(least, {.tier = "smoke", .sets = {}}), Error,
                       Message("--tier smoke: tier is smoke, expected one that this spec has: small"));
  CHECK_THROWS_MATCHES(read(least + "tiers: {smoke: {train.schedule.warmup: 200}}\n"), Error,
                       Message("f:14:40: train.schedule.warmup is 200 steps, expected fewer than train.steps 100"));
}

TEST_CASE("spec: a study may train nothing: what it measures are the weights as they were drawn", "[spec][probes]") {
  Spec const spec = set({"train.steps=0"});
  CHECK(setting(spec).train.steps == 0);
  CHECK(setting(spec).model.from.empty());
  CHECK(without_comments(read(spec.resolved).resolved) == without_comments(spec.resolved));
}

TEST_CASE("spec: a name that is one slip away goes before one that begins alike", "[spec]") {
  CHECK(nearest("yarn-tund", {"yarn", "yarn-tuned"}) == "yarn-tuned");
  CHECK(nearest("yarn-tund", {"yarn-tuned", "yarn"}) == "yarn-tuned");
  CHECK(nearest("yarn-x", {"linear", "yarn"}) == "yarn");
}
}  // namespace
}  // namespace sextant
