// Tuned arms as stages: what they go on from, and what names them.
#include "../spec/made_up.hpp"
#include "made_up_world.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sextant/base/json.hpp>

#include <map>

namespace sextant::tune_test {
namespace {
using Catch::Matchers::ContainsSubstring;
using plan::Plan;

std::string const tuned = R"(sextant: 1
study: tuned
model: {layers: 2, width: 64, heads: 4}
position: {encoding: rope}
data: {corpus: kjv}
train: {steps: 1000, length: 64, batch: 1024 tokens, optimiser: {rate: 1e-3}, seeds: [0, 7]}
tune: {length: 256}
evaluate:
  - {use: lm_loss, lengths: [64, 256], windows: 8}
vary:
  - {key: tune.amount, stage: tune, values: [1 %, 10 %]}
  - {key: tune.scaling, stage: tune, values: [none, {use: linear, factor: auto}]}
)";
Plan plan_of(std::string const& spec, std::vector<std::string> sets = {}) {
  return plan::make_plan(spec::read_spec(spec, "f", {.tier = {}, .sets = std::move(sets)}, test::made_up_plugins()),
                         test::made_up_world());
}
std::map<std::string, int> children(Plan const& plan) {
  std::map<std::string, int> count;
  for (auto const& stage : plan.train) ++count[stage.parent];
  return count;
}
}  // namespace

TEST_CASE("plan: a model is trained once a seed, and every tuned arm goes on from it", "[plan][tune]") {
  Plan const plan = plan_of(tuned);
  REQUIRE(plan.train.size() == 2 + 2 * 4);
  auto count = children(plan);
  CHECK(count[""] == 2);
  CHECK(count[plan.train[0].id] == 4);
  CHECK(count[plan.train[1].id] == 4);
  std::map<std::string, bool> known{{"", true}};
  for (auto const& stage : plan.train) {
    CHECK(known[stage.parent]);  // parents stand before those that go on from them
    known[stage.id] = true;
    if (stage.parent.empty()) {
      CHECK(stage.arm == "rope / untuned");
      CHECK(stage.train.steps == 1000);
    } else {
      CHECK(stage.batches_before == 1000);
      CHECK(stage.train.length == 256);
      CHECK(nlohmann::json::parse(stage.canonical)["parent"] == stage.parent);
    }
  }
  CHECK(plan.evaluate.size() == 2 * 4 * 2);
  for (auto const& stage : plan.evaluate)  // nobody asks for the untuned model
    CHECK(count[stage.train_id] == 0);
}

TEST_CASE("plan: a tuned model is measured under the factor it was tuned with, at every length", "[plan][tune]") {
  Plan const plan = plan_of(tuned);
  int seen = 0;
  for (auto const& stage : plan.evaluate) {
    if (stage.view != "linear") continue;
    ++seen;
    CHECK(std::get<double>(stage.position.scalings.at(0).options.at("factor")) == 4);  // 256 / 64
  }
  CHECK(seen == 8);
}

TEST_CASE("plan: tuning more does not name the training anew, training more names all anew", "[plan][tune]") {
  auto const ids = [](Plan const& plan, bool after) {
    std::map<std::string, int> out;
    for (auto const& stage : plan.train)
      if (stage.parent.empty() != after) out[stage.id] = 1;
    return out;
  };
  Plan const plan = plan_of(tuned), rate = plan_of(tuned, {"tune.optimiser.rate=5e-5"}),
             more = plan_of(tuned, {"train.steps=999"});
  CHECK(ids(plan, false) == ids(rate, false));
  for (auto const& [id, one] : ids(rate, true)) CHECK_FALSE(ids(plan, true).contains(id));
  for (auto const& [id, one] : ids(more, true)) CHECK_FALSE(ids(plan, true).contains(id));
  CHECK(plan_of(tuned, {"tune.save.every=5"}).train.back().id == plan.train.back().id);
  // The same model without a tune block is the one that is shared.
  std::string const bare = tuned.substr(0, tuned.find("tune:")) +
                           tuned.substr(tuned.find("evaluate:"), tuned.find("vary:") - tuned.find("evaluate:"));
  CHECK(plan_of(bare).train[0].id == plan.train[0].id);
}

TEST_CASE("plan: an untuned arm is the model that the others go on from, under its own name", "[plan][tune]") {
  std::string with_none = tuned;
  with_none.replace(with_none.find("[1 %, 10 %]"), 11, "[1 %, none]");
  with_none.insert(with_none.find("values: [none, {use"), "where: {tune.amount: 1 %}, ");
  Plan const plan = plan_of(with_none);
  REQUIRE(plan.train.size() == 2 * 3);
  CHECK(plan.train[0].arm == "rope / amount=none");
  CHECK(plan.train[0].labels.at("tune.amount") == "none");
  int untuned = 0;
  for (auto const& stage : plan.evaluate) untuned += stage.arm == "rope / amount=none";
  CHECK(untuned == 2 * 2);
}

TEST_CASE("plan: memory that is short makes forward passes run twice, and names nothing anew", "[plan][tune]") {
  auto world = test::made_up_world();
  auto const spec = spec::read_spec(tuned, "f", {}, test::made_up_plugins());
  auto const roomy = plan::make_plan(spec, world);
  world.machine.memory = 1.5 * roomy.train[0].cost.bytes;
  auto const tight = plan::make_plan(spec, world);
  CHECK_FALSE(roomy.train[0].recompute);
  CHECK(tight.train[0].recompute);
  CHECK(tight.train[0].id == roomy.train[0].id);
  CHECK(tight.train[0].cost.bytes < roomy.train[0].cost.bytes);
  CHECK(tight.train[0].cost.flop > 1.3 * roomy.train[0].cost.flop);
}
}  // namespace sextant::tune_test
