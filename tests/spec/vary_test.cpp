#include "made_up.hpp"

#include <sextant/base/error.hpp>
#include <sextant/spec/spec.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace sextant::vary_test {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using List = std::vector<std::string>;

std::string const base = R"(sextant: 1
study: varied
model: {layers: 2, width: 64, heads: 4}
position: {encoding: rope}
data: {corpus: kjv}
train: {steps: 100, length: 64, batch: 256 tokens, optimiser: {rate: 1e-3}, seeds: [0]}
evaluate:
  - {use: lm_loss, lengths: [64, 128], windows: 8}
  - {use: lm_loss, name: control, lengths: [128], windows: 8, context: 64}
vary:
)";

spec::Spec read(std::string const& vary) { return spec::read_spec(base + vary, "f", {}, test::made_up_plugins()); }

List arms(spec::Spec const& spec) {
  List labels;
  for (auto const& arm : spec.arms) labels.push_back(arm.label);
  return labels;
}
// "view: measurements" of one arm.
List views(spec::Arm const& arm) {
  List labels;
  for (auto const& view : arm.views) labels.push_back(view.label + ": " + join(view.evaluations, " "));
  return labels;
}

TEST_CASE("vary: encodings make arms with stable labels", "[spec]") {
  auto const spec = read(
      "  - {key: position.encoding, stage: train, values: [nope, [rope, alibi], "
      "{use: direct_sum, shares: [3, 1], parts: [rope, alibi]}, {use: rope, base: 500000, label: far}]}\n");
  CHECK(arms(spec) == List{"nope", "rope+alibi", "direct_sum(rope, alibi)", "far"});
  CHECK(spec.arms[1].setting.position.encodings.size() == 2);
  CHECK(spec.arms[2].setting.position.encodings[0].parts.size() == 2);
  CHECK(spec.arms[3].labels.at("position.encoding") == "far");
}

TEST_CASE("vary: product takes every pair, zip walks along", "[spec]") {
  std::string const rates = "  - {key: train.optimiser.rate, stage: train, values: [1e-3, 2e-3]}\n";
  CHECK(arms(read("  - {key: position.encoding, stage: train, values: [nope, rope]}\n" + rates)) ==
        List{"nope / rate=1e-3", "nope / rate=2e-3", "rope / rate=1e-3", "rope / rate=2e-3"});
  auto const zipped = read(rates + "  - {key: train.steps, stage: train, combine: zip, values: [100, 200]}\n");
  CHECK(arms(zipped) == List{"rope / rate=1e-3 / steps=100", "rope / rate=2e-3 / steps=200"});
  CHECK(zipped.arms[1].setting.train.steps == 200);
  CHECK(zipped.arms[1].setting.train.optimiser.rate == 2e-3);
}

TEST_CASE("vary: a named axis sets several keys under one label", "[spec]") {
  auto const spec = read(
      "  - name: size\n    stage: train\n    values:\n"
      "      - {label: small, set: {model.layers: 1, model.width: 32}}\n"
      "      - {label: large, set: {model.layers: 4, model.width: 128}}\n");
  CHECK(arms(spec) == List{"rope / small", "rope / large"});
  CHECK(spec.arms[1].setting.model.layers == 4);
  CHECK(spec.arms[1].setting.model.head_width == 32);
}

TEST_CASE("vary: scalings are views of one trained arm, only where they are asked for", "[spec]") {
  auto const spec = read(
      "  - {key: position.encoding, stage: train, values: [alibi, rope]}\n"
      "  - {key: position.scaling, stage: evaluate, where: {position.encoding: rope, evaluate: lm_loss},\n"
      "     values: [none, {use: ntk, factor: auto}, {use: ntk, factor: 4}, {use: yarn, factor: auto, label: "
      "mine}]}\n");
  REQUIRE(arms(spec) == List{"alibi", "rope"});
  CHECK(views(spec.arms[0]) == List{"none: lm_loss control"});
  CHECK(views(spec.arms[1]) == List{"none: lm_loss control", "ntk: lm_loss", "ntk x4: lm_loss", "mine: lm_loss"});
  CHECK(spec.arms[1].setting.position.scalings.empty());
  CHECK(spec.arms[1].views[1].position.scalings.at(0).use == "ntk");
  CHECK(spec.arms[1].views[1].labels.at("position.scaling") == "ntk");
}

TEST_CASE("vary: an option of the encoding may change after training", "[spec]") {
  auto const spec = read("  - {key: position.encoding.base, stage: evaluate, values: [10000, 5e5]}\n");
  CHECK(views(spec.arms[0]) == List{"none / base=10000: lm_loss control", "none / base=5e5: lm_loss control"});
  CHECK(std::get<double>(spec.arms[0].views[1].position.encodings[0].options.at("base")) == 5e5);
}

TEST_CASE("vary: a key that only vary gives has its first value as base", "[spec]") {
  std::string text = base;
  text.replace(text.find("encoding: rope"), 14, "trained_length: 64");
  auto const spec = spec::read_spec(text + "  - {key: position.encoding, stage: train, values: [alibi, nope]}\n", "f",
                                    {}, test::made_up_plugins());
  CHECK(arms(spec) == List{"alibi", "nope"});
}

TEST_CASE("vary: the resolved text makes the same arms and views", "[spec]") {
  auto const spec = read(
      "  - {key: position.encoding, stage: train, values: [{value: [rope, alibi], label: 'a: b'}, rope]}\n"
      "  - {key: train.optimiser.rate, stage: train, values: [1e-3, {value: 2e-3, label: fast}], where: "
      "{position.encoding: [rope]}}\n"
      "  - {key: position.scaling, stage: evaluate, values: [none, {use: ntk, factor: 4}]}\n");
  auto const again = spec::read_spec(spec.resolved, "g", {}, test::made_up_plugins());
  CHECK(arms(again) == arms(spec));
  CHECK(arms(spec) == List{"a: b", "rope / rate=1e-3", "rope / rate=fast"});
  for (std::size_t i = 0; i < spec.arms.size(); ++i) CHECK(views(again.arms.at(i)) == views(spec.arms[i]));
}

TEST_CASE("vary: an override that every arm would undo is refused", "[spec][R21]") {
  std::string const vary = "  - {key: position.encoding, stage: train, values: [alibi, rope]}\n";
  std::string const some =
      vary + "  - {key: train.steps, stage: train, values: [200], where: {position.encoding: rope}}\n";
  auto const with = [&](std::string const& text, char const* set) {
    return spec::read_spec(base + text, "f", {.tier = {}, .sets = {set}}, test::made_up_plugins());
  };
  for (char const* set : {"position.encoding=nope", "position.encoding.base=500"})
    CHECK_THROWS_MATCHES(with(vary, set), Error,
                         MessageMatches(ContainsSubstring("has no effect, because vary gives")));
  CHECK(with(some, "train.steps=50").arms[0].setting.train.steps == 50);
  CHECK(with(some, "train.steps=50").arms[1].setting.train.steps == 200);
  CHECK(arms(with(vary, "vary.0.values=[nope]")) == List{"nope"});
}

TEST_CASE("vary: labels that would be confused, and conditions that can never hold, are refused", "[spec]") {
  auto const refused = [](std::string const& vary, std::string const& words) {
    INFO(vary);
    CHECK_THROWS_MATCHES(read(vary), Error, MessageMatches(ContainsSubstring(words)));
  };
  refused("  - {key: position.encoding, stage: train, values: [rope, {use: rope, base: 20000}]}\n",
          "is called rope, as item 0 is");
  refused("  - {key: position.scaling, stage: evaluate, where: {position.encoding: rope}, values: [none]}\n",
          "no earlier item of vary is called position.encoding");
  refused(
      "  - {key: position.encoding, stage: train, values: [rope]}\n"
      "  - {key: position.scaling, stage: evaluate, where: {position.encoding: rop}, values: [none]}\n",
      "position.encoding is rop, expected one of rope; did you mean rope?");
  refused("  - {key: position.scaling, stage: evaluate, where: {evaluate: lm_los}, values: [none]}\n",
          "did you mean lm_loss?");
  refused("  - {key: train.steps, stage: evaluate, values: [1]}\n", "trained weights hold nothing else");
  refused("  - {key: train.seeds, stage: train, values: [[1], [2]]}\n", "list the seeds in train.seeds");
  refused("  - {key: train.schedule.warmup, stage: train, values: [2, 200]}\n",
          "f:11:60: train.schedule.warmup is 200");
}
}  // namespace
}  // namespace sextant::vary_test
