// The tune block, and models that a spec starts from.
#include "made_up.hpp"

#include <sextant/base/error.hpp>
#include <sextant/spec/pretrained.hpp>
#include <sextant/spec/spec.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <regex>

namespace sextant::tune_test {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::string const base = R"(sextant: 1
study: tuned
model: {layers: 2, width: 64, heads: 4}
position: {encoding: rope}
data: {corpus: kjv}
train: {steps: 1000, length: 64, batch: 1024 tokens, optimiser: {rate: 1e-3}, seeds: [0]}
evaluate:
  - {use: lm_loss, lengths: [64, 256], windows: 8}
)";
std::string const tuned = base + "tune: {amount: 2 %, length: 256}\n";

spec::Catalogue models() {
  spec::Catalogue catalogue = test::made_up_plugins();
  catalogue.know([](std::string const& name) {
    expect(name == "known", "there is no model ", name);
    spec::Pretrained out;
    out.model.layers = 3, out.model.width = 48, out.model.heads = 6, out.model.kv_heads = 2, out.model.head_width = 8;
    out.model.mlp.width = 100, out.model.vocabulary = 500, out.model.sha256 = "sha of known";
    out.model.tokenizer_sha256 = "sha of its tokenizer";
    out.position = {{{"rope", {{"base", 5e5}}, {}}}, {}, 128};
    return out;
  });
  return catalogue;
}
spec::Spec read(std::string const& text, std::vector<std::string> sets = {}) {
  return spec::read_spec(text, "f", {.tier = {}, .sets = std::move(sets)}, models());
}
std::string without_comments(std::string const& text) { return std::regex_replace(text, std::regex(" *#[^\n]*"), ""); }
std::string complaint(std::string const& text, std::vector<std::string> sets = {}) {
  try {
    read(text, std::move(sets));
  } catch (Error const& error) {
    return error.what();
  }
  return "nothing";
}
}  // namespace

TEST_CASE("spec: an amount of tuning is steps, tokens or a share of the tokens of training", "[spec][tune]") {
  auto const steps = [](std::string const& amount) {
    return read(tuned, {"tune.amount=" + amount}).arms.at(0).setting.tune.steps;
  };
  CHECK(steps("50 steps") == 50);
  CHECK(steps("2 %") == 20);           // of 1000 steps of as many tokens
  CHECK(steps("20480 tokens") == 20);  // 1024 a step
  CHECK(steps("20900 tokens") == 20);  // to the nearest step
  CHECK(steps("1 tokens") == 1);       // one at least
  auto const tune = read(tuned).arms.at(0).setting.tune;
  CHECK(tune.rows == 4);               // 1024 tokens of 256
  CHECK(tune.optimiser.rate == 1e-4);  // what training ends with
  CHECK(tune.encodings.at(0).use == "rope");
  CHECK_FALSE(read(base).arms.at(0).setting.tune);
  CHECK_FALSE(read(tuned, {"tune.amount=none"}).arms.at(0).setting.tune);
  for (std::string const wrong : {"0 steps", "-1 %", "2", "1.5 steps", "\"2 %\"", "2 percent", "much"})
    CHECK_THAT(complaint(tuned, {"tune.amount=" + wrong}),
               ContainsSubstring("tune.amount is") && ContainsSubstring("as in 50 steps, 100000 tokens or 2 %"));
}

TEST_CASE("spec: tuned arms share what is trained, are measured under their own scaling and come back whole",
          "[spec][tune]") {
  std::string const text = tuned + R"(vary:
  - {key: tune.amount, stage: tune, values: [none, 1 %, 10 %]}
  - key: tune.scaling
    stage: tune
    where: {tune.amount: [1 %, 10 %]}
    values: [none, {use: linear, factor: auto}]
  - key: position.scaling
    stage: evaluate
    where: {tune.amount: none}
    values: [none, {use: linear, factor: auto}]
)";
  auto const spec = read(text);
  std::vector<std::string> arms;
  for (auto const& arm : spec.arms) {
    arms.push_back(arm.label);
    CHECK(arm.trained_label == "rope / untuned");
    CHECK(arm.trained_labels.empty());
  }
  CHECK(arms == std::vector<std::string>{"rope / amount=none", "rope / amount=1 % / none", "rope / amount=1 % / linear",
                                         "rope / amount=10 % / none", "rope / amount=10 % / linear"});
  REQUIRE(spec.arms[0].views.size() == 2);
  CHECK_FALSE(spec.arms[0].views[1].as_tuned);
  REQUIRE(spec.arms[4].views.size() == 1);
  CHECK(spec.arms[4].views[0].as_tuned);
  CHECK(spec.arms[4].views[0].label == "linear");
  CHECK(spec.arms[4].setting.tune.steps == 100);
  auto const again = spec::read_spec(spec.resolved, "f", {}, models());
  CHECK(without_comments(again.resolved) == without_comments(spec.resolved));
  CHECK(again.arms.size() == 5);
  CHECK(read(base).resolved.find("\ntune:") == std::string::npos);  // a spec that does not tune does not speak of it
}

TEST_CASE("spec: what cannot be tuned is refused where it stands", "[spec][tune]") {
  CHECK_THAT(complaint(base + "vary:\n  - {key: model.width, stage: tune, values: [64]}\n"),
             ContainsSubstring("f:10:11: vary.0.key is model.width at stage tune, expected a key below tune"));
  CHECK_THAT(complaint(tuned, {"tune.length=300"}), ContainsSubstring("no whole number of rows of tune.length 300"));
  CHECK_THAT(complaint(tuned, {"tune.schedule.warmup=20"}),
             ContainsSubstring("expected fewer than the steps that tune.amount makes, 20"));
  CHECK_THAT(complaint(tuned, {"train.schedule.floor=0"}),
             ContainsSubstring("tune.optimiser.rate is 0, expected a number > 0"));
  CHECK_THAT(complaint(tuned, {"train.steps=0"}), ContainsSubstring("is a share of the tokens of training"));
}

TEST_CASE("spec: a pretrained model gives the keys that are left out, and contradicts those that differ",
          "[spec][from]") {
  std::string const text = R"(sextant: 1
study: on
model: {from: known}
position: {scaling: {use: linear, factor: 2}}
data: {corpus: kjv}
train: {steps: 0, length: 64, batch: 1024 tokens, optimiser: {rate: 1e-3}, seeds: [0]}
evaluate:
  - {use: lm_loss, lengths: [64, 256], windows: 8}
)";
  auto const spec = read(text);
  auto const& setting = spec.arms.at(0).setting;
  CHECK(setting.model.layers == 3);
  CHECK(setting.model.head_width == 8);
  CHECK(setting.model.vocabulary == 500);
  CHECK(setting.model.sha256 == "sha of known");
  CHECK(setting.position.trained_length == 128);
  CHECK(setting.position.encodings.at(0).use == "rope");
  CHECK(std::get<double>(setting.position.encodings.at(0).options.at("base")) == 5e5);
  CHECK(setting.position.scalings.at(0).use == "linear");
  CHECK(setting.data.tokens == "known");
  auto const again = spec::read_spec(spec.resolved, "f", {}, models());
  CHECK(without_comments(again.resolved) == without_comments(spec.resolved));
  CHECK(read(text, {"model.layers=3", "position.encoding={use: rope, base: 500000}"}).arms.size() == 1);
  CHECK_THAT(complaint(text, {"model.layers=4"}),
             ContainsSubstring("model.layers is 4, but model.from is known, which has 3; leave the key out"));
  CHECK_THAT(complaint(text, {"position.encoding=rope"}),
             ContainsSubstring("position.encoding is {use: rope, base: 10000"));
  CHECK_THAT(complaint(text, {"position.trained_length=64"}), ContainsSubstring("which has 128"));
  CHECK_THAT(complaint(text, {"model.from=other"}), ContainsSubstring("model.from: there is no model other"));
  CHECK_THAT(complaint(text + "tune: {amount: 1 %}\n"),
             ContainsSubstring("is a share of the tokens of training, and train.steps is 0"));
}

TEST_CASE("spec: a claim that names a tuned arm wrongly is told the name that there is", "[spec][tune][claims]") {
  auto const refused = [](std::string const& where, std::string const& message) {
    std::string const text = tuned + R"(vary:
  - {key: tune.amount, stage: tune, values: [none, 10 %]}
  - {key: tune.scaling, stage: tune, where: {tune.amount: 10 %}, values: [none, {use: linear, factor: auto}]}
  - {key: position.scaling, stage: evaluate, where: {tune.amount: none}, values: [none, {use: linear, factor: auto}]}
claims:
  list:
    - {id: a, test: "lm_loss.mean @ 64 )" +
                             where + " < 3\"}\n";
    CHECK_THROWS_MATCHES(read(text), Error, MessageMatches(ContainsSubstring(message)));
  };
  refused("{amount=10 %, tune.scalin=linear}", "did you mean tune.scaling?");
  refused("{amount=none, tune.scaling=linear}", "together with what stands before, expected no tune.scaling");
}
}  // namespace sextant::tune_test
