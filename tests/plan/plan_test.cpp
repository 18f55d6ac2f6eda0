#include "../spec/made_up.hpp"
#include "made_up_world.hpp"

#include <sextant/base/file.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <set>
#include <sextant/base/json.hpp>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using plan::Plan;

std::string const base = R"(sextant: 1
study: planned
model: {layers: 2, width: 64, heads: 4}
position: {encoding: rope}
data: {corpus: kjv}
train: {steps: 100, length: 64, batch: 256 tokens, optimiser: {rate: 1e-3}, seeds: [0, 7]}
evaluate:
  - {use: lm_loss, lengths: [32, 64, 256], windows: 8}
)";

Plan plan_of(std::string const& text, std::vector<std::string> sets = {},
             plan::World const& world = test::made_up_world()) {
  return plan::make_plan(spec::read_spec(text, "f", {.tier = {}, .sets = std::move(sets)}, test::made_up_plugins()),
                         world);
}
std::set<std::string> ids(Plan const& plan) {
  std::set<std::string> all;
  for (auto const& stage : plan.train) all.insert(stage.id);
  for (auto const& stage : plan.evaluate) all.insert(stage.id);
  return all;
}
bool nothing_done(std::string const&) { return false; }

TEST_CASE("plan: one model a seed and arm, one measurement a length", "[plan]") {
  Plan const plan = plan_of(base);
  REQUIRE(plan.train.size() == 2);
  REQUIRE(plan.evaluate.size() == 6);
  CHECK(plan.train[0].seed == 0);
  CHECK(plan.train[1].order_seed == 7);
  CHECK(plan.evaluate[2].length == 256);
  CHECK(plan.evaluate[2].span == 256);
  CHECK(plan.evaluate[3].train_id == plan.train[1].id);
  CHECK(ids(plan).size() == 8);
  CHECK(plan.train[0].id.size() == 16);
  CHECK(plan.train[0].id == sha256(plan.train[0].canonical).substr(0, 16));
}

TEST_CASE("plan: what does not change a result does not change its name", "[plan][R51]") {
  Plan const plan = plan_of(base);
  CHECK(ids(plan_of(base, {"title=Other", "study=other", "train.save.every=10", "budget.wall=1h"})) == ids(plan));
  CHECK(ids(plan_of(base, {"train.seeds=[7, 0]", "evaluate.0.lengths=[256, 64, 32]"})) == ids(plan));
  CHECK(ids(plan_of(base, {"train.optimiser.rate=.001", "train.batch=4 rows",
                           "position.encoding={use: rope, base: 1e4}"})) == ids(plan));
  auto const varied =
      plan_of(base + "vary: [{key: position.encoding, stage: train, values: [alibi, {use: rope, label: r}]}]\n");
  auto const all = ids(varied);
  for (auto const& id : ids(plan)) CHECK(all.contains(id));  // a new arm in front keeps what is done
}

TEST_CASE("plan: what changes a result changes its name", "[plan][R51]") {
  auto const before = ids(plan_of(base));
  for (char const* set :
       {"model.layers=3", "train.optimiser.rate=1.0000000000000002e-3", "position.encoding.base=10001",
        "position.encoding.layers=[0]", "position.encoding.layers={every: 2}", "train.seeds=[1, 2]",
        "data.split.train=0.9", "model.norm.eps=1e-6", "train.steps=101", "data.order.seed=3",
        "position.trained_length=65", "train.precision=bf16"}) {
    INFO(set);
    for (auto const& id : ids(plan_of(base, {set}))) CHECK_FALSE(before.contains(id));
  }
  auto world = test::made_up_world();
  world.plugin_sha256 = [](encoding::Role, std::string const& name) { return "rebuilt " + name; };
  for (auto const& id : ids(plan_of(base, {}, world))) CHECK_FALSE(before.contains(id));
  world = test::made_up_world();
  world.corpus = [](spec::Data const&) { return plan::CorpusFacts{std::string(64, 'b'), 3760000, 240000}; };
  for (auto const& id : ids(plan_of(base, {}, world))) CHECK_FALSE(before.contains(id));
}

TEST_CASE("plan: where whole documents are held out, their share decides what is trained on", "[plan]") {
  Plan const cut = plan_of(base), whole = plan_of(base, {"data.split.cut=documents"}),
             other = plan_of(base, {"data.split.cut=documents", "data.split.test=0.05"});
  CHECK(whole.train[0].id != cut.train[0].id);
  CHECK(other.train[0].id != whole.train[0].id);
}

TEST_CASE("plan: a measurement may change without retraining", "[plan]") {
  Plan const before = plan_of(base), after = plan_of(base, {"evaluate.0.windows=9", "data.split.test=0.05"});
  CHECK(after.train[0].id == before.train[0].id);
  CHECK(after.evaluate[0].id != before.evaluate[0].id);
}

TEST_CASE("plan: factor auto is evaluated length over trained length, at least 1, and by the context that is seen",
          "[plan][R13]") {
  Plan const plan = plan_of(base, {"position.scaling={use: ntk, factor: auto}", "evaluate.0.context=128"});
  auto const factor = [](encoding::PositionChoice const& position) {
    return std::get<double>(position.scalings.at(0).options.at("factor"));
  };
  CHECK(factor(plan.train[0].position) == 1);
  CHECK(factor(plan.evaluate[0].position) == 1);  // 32 of 64
  CHECK(factor(plan.evaluate[1].position) == 1);  // 64
  CHECK(factor(plan.evaluate[2].position) == 2);  // 256, of which 128 are seen
  CHECK(factor(plan_of(base, {"position.scaling={use: ntk, factor: auto}"}).evaluate[2].position) == 4);
}

TEST_CASE("plan: arms that train the same model train it once, and one record may bear two names", "[plan]") {
  Plan const plan = plan_of(
      base +
      "vary:\n"
      "  - {key: position.encoding, stage: train, values: [rope, {use: rope, base: 1e4, label: same}]}\n"
      "  - {key: position.scaling, stage: evaluate, values: [{use: ntk, factor: auto}, {use: ntk, factor: 4}]}\n");
  CHECK(plan.train.size() == 2);
  CHECK(plan.notes.size() == 2);
  CHECK(plan.evaluate.size() == 2 * 2 * 3);
  int repeats = 0;
  for (auto const& stage : plan.evaluate) repeats += stage.repeats;
  CHECK(repeats == 2);  // ntk x4 at 256 is ntk auto there, for two seeds
}

TEST_CASE("plan: parameters are those of the reference model, counted by hand", "[plan]") {
  // Llama-style, 4 layers, width 128, 4 heads of 32, SwiGLU 384, tied bytes:
  // 256*128 + 4 * (4*128*128 + 3*128*384 + 2*128) + 128 = 885 888
  auto const plan = plan_of(base, {"model={layers: 4, width: 128, heads: 4, mlp: {width: 384}}"});
  CHECK(plan.train[0].cost.parameters == 885888);
  // Untied, GPT-2 style norms and MLP, half the key heads, QK-norm:
  // 2*256*128 + 4 * (128*(128+2*64) + 128*128 + 2*128*512 + 2*2*128 + 2*32) + 2*128
  auto const other =
      plan_of(base, {"model={layers: 4, width: 128, heads: 4, kv_heads: 2, qk_norm: true, tie_embedding: false, "
                     "mlp: {kind: gelu, width: 512}, norm: {kind: layernorm}}"});
  CHECK(other.train[0].cost.parameters == 65536 + 4 * (32768 + 16384 + 131072 + 512 + 64) + 256);
}

TEST_CASE("plan: training FLOP are six a weight and token, and causal attention", "[plan]") {
  auto const plan = plan_of(base, {"model={layers: 4, width: 128, heads: 4, mlp: {width: 384}}", "train.steps=10"});
  double const weights = 256 * 128 + 4 * (4 * 128 * 128 + 3 * 128 * 384), tokens = 10 * 256;
  double const attention = 4 * 6.0 * 64 * 128;  // layers * 3 * (2 length width)
  CHECK(plan.train[0].cost.flop == Catch::Approx(tokens * (6 * weights + attention)));
  CHECK(plan.train[0].cost.seconds == Catch::Approx(plan.train[0].cost.flop / 100e9));
}

TEST_CASE("plan: what cannot fit is refused with numbers, and what is done need not fit", "[plan]") {
  Plan plan = plan_of(base, {"budget.memory=1MiB"});
  CHECK_THROWS_MATCHES(plan::expect_fits(plan, nothing_done), Error,
                       MessageMatches(ContainsSubstring("expected at most budget.memory 1 MiB")));
  CHECK_NOTHROW(plan::expect_fits(plan, [](std::string const&) { return true; }));
  plan = plan_of(base, {"budget.wall=1ms"});
  CHECK_THROWS_MATCHES(plan::expect_fits(plan, nothing_done), Error, MessageMatches(ContainsSubstring("budget.wall")));
  auto world = test::made_up_world();
  world.machine.memory = 1000;
  CHECK_THROWS_MATCHES(plan::expect_fits(plan_of(base, {}, world), nothing_done), Error,
                       MessageMatches(ContainsSubstring("this machine has")));
  CHECK_NOTHROW(plan::expect_fits(plan_of(base), nothing_done));
  CHECK(plan::available_memory() > 0x1p20);
}

TEST_CASE("plan: encodings that do not fit are refused at the place where they stand", "[plan][R25]") {
  auto world = test::made_up_world();
  world.position = [](spec::Model const&, encoding::PositionChoice const& choice, int target) {
    if (!choice.scalings.empty()) fail("cannot be scaled to ", target);
    return plan::PositionFacts{.parameters = 0, .table_length = 100};
  };
  CHECK_THROWS_MATCHES(
      plan_of(base, {}, world), Error,
      MessageMatches(ContainsSubstring(
          "f:4:22: rope under none at 256 tokens (lm_loss): 256 tokens reach past the learned table of 100")));
  std::string const scaled =
      base + "vary:\n  - {key: position.scaling, stage: evaluate, values: [none,\n     {use: ntk, factor: 2}]}\n";
  CHECK_THROWS_MATCHES(
      plan_of(scaled, {"evaluate.0.lengths=[32, 64]"}, world), Error,
      MessageMatches(ContainsSubstring("f:11:6: rope under ntk x2 at 32 tokens (lm_loss): cannot be scaled to 32")));
}

TEST_CASE("plan: shifts past a learned table are refused before anything runs, and shifts within it are not",
          "[plan][probes]") {
  auto world = test::made_up_world();
  world.position = [](spec::Model const&, encoding::PositionChoice const&, int) {
    return plan::PositionFacts{.parameters = 0, .table_length = 200};
  };
  std::vector<std::string> const shift = {"evaluate.0.use=shift", "evaluate.0.lengths=[64]"};
  auto const keeping = [&](std::string const& keep) {
    auto sets = shift;
    sets.push_back("evaluate.0.keep=" + keep);
    return plan_of(base, sets, world);
  };
  CHECK_NOTHROW(keeping("[shift1, shift100]"));
  CHECK_THROWS_MATCHES(keeping("[shift1, shift10000]"), Error,
                       MessageMatches(ContainsSubstring("64 tokens moved by as many as shift10000 names reach past the "
                                                        "learned table of 200 positions; expected shifts within it")));
}

TEST_CASE("plan: a probe that compares passes costs one more for each, and two tables of logits", "[plan][probes]") {
  spec::Model model;
  model.layers = 2, model.width = 16, model.heads = model.kv_heads = 2, model.head_width = 8, model.vocabulary = 100;
  auto const cost = [&](spec::Probe use, std::vector<std::string> keep) {
    spec::Evaluation evaluation{.use = use, .lengths = {32}, .windows = 3, .keep = std::move(keep)};
    return plan::evaluate_cost(model, evaluation, 3, 32, {}, plan::Machine{});
  };
  auto const loss = cost(spec::Probe::lm_loss, {"mean"}), shift = cost(spec::Probe::shift, {"shift1", "shift100"});
  CHECK(shift.flop == 3 * loss.flop);
  CHECK(shift.bytes == loss.bytes + 2 * 4 * 32 * 100);
}

TEST_CASE("plan: repetition costs a pass for each way to write, none for the text's own, and a key cache",
          "[plan][probes]") {
  spec::Model model;
  model.layers = 2, model.width = 16, model.heads = model.kv_heads = 2, model.head_width = 8, model.vocabulary = 100;
  auto const cost = [&](spec::Probe use, std::vector<std::string> keep) {
    spec::Evaluation evaluation{.use = use, .lengths = {32}, .windows = 3, .keep = std::move(keep)};
    return plan::evaluate_cost(model, evaluation, 3, 32, {}, plan::Machine{});
  };
  auto const loss = cost(spec::Probe::lm_loss, {"mean"});
  auto const both = cost(spec::Probe::repetition, {"repeat4", "repeat8", "repeat8_sampled", "repeat8_text"});
  CHECK(both.flop == 2 * loss.flop);
  CHECK(both.bytes == loss.bytes + 3 * 32 * 2 * 2 * 2 * 8 * 4);  // rows, tokens, layers, key and value, heads, channels
  CHECK(both.seconds > 3 * loss.seconds);                        // token by token
  CHECK(cost(spec::Probe::repetition, {"repeat16"}).flop == loss.flop);
  CHECK(cost(spec::Probe::repetition, {"repeat4_text"}).flop == 0);
}

TEST_CASE("plan: the tree marks what is done, and the JSON form holds the same", "[plan]") {
  Plan const plan = plan_of(base);
  auto const first = [&](std::string const& id) { return id == plan.train[0].id || id == plan.evaluate[0].id; };
  std::string const text = plan::plan_text(plan, first);
  CHECK_THAT(text, ContainsSubstring("planned: 2 models to train, 6 measurements; 2 of 8 stages done\n"));
  CHECK_THAT(text, ContainsSubstring("    done  seed 0  " + plan.train[0].id + "\n"));
  CHECK_THAT(text, ContainsSubstring("    todo  seed 7  " + plan.train[1].id + "\n"));
  CHECK_THAT(text, ContainsSubstring("      1/3   lm_loss at 32 64 256"));
  auto const json = nlohmann::json::parse(plan::plan_json(plan, first));
  CHECK(json["train"].size() == 2);
  CHECK(json["evaluate"].size() == 6);
  CHECK(json["done"] == 2);
  CHECK(json["train"][0]["determined_by"]["model"]["layers"] == 2);
}

TEST_CASE("plan: the matrices that a map of several coordinates keeps of each point are counted", "[plan]") {
  auto const world = test::world_with_plugins();
  spec::Model model;
  model.layers = 3, model.width = 64, model.heads = model.kv_heads = 2, model.head_width = 32;
  encoding::Choice line{"liere", {}, {}}, plane{"liere", {{"axes", std::int64_t{2}}}, {}};
  plane.options["grid"] = std::vector<double>{4, 4};
  auto const one = world.position(model, {{line}, {}, 16}, 16), two = world.position(model, {{plane}, {}, 16}, 16);
  CHECK(one.kept_bytes == 0);
  CHECK(two.kept_bytes == 3 * 2 * 32 * 32 * 4);  // layers, heads, a matrix of floats
  plan::Machine const machine;
  auto const cost = [&](plan::PositionFacts const& facts) {
    return plan::evaluate_cost(model, {.lengths = {16}, .windows = 5}, 5, 16, facts, machine).bytes;
  };
  auto bare = two;
  bare.kept_bytes = 0;
  CHECK(cost(two) - cost(bare) == 5 * 16 * two.kept_bytes);
}

TEST_CASE("plan: the quickstart plans with the plugins of this build, at every tier", "[plan][quickstart]") {
  auto const folder = fs::path(std::getenv("SEXTANT_SOURCE")) / "experiments/quickstart";
  auto const spec = spec::load_spec(folder, {}, encoding::Registry::global());
  Plan const plan = plan::make_plan(spec, test::world_with_plugins());
  CHECK(spec.arms.size() == 6);
  CHECK(plan.train.size() == 18);
  CHECK(plan.notes.empty());
  CHECK_NOTHROW(plan::expect_fits(plan, nothing_done));
  auto const smoke = spec::load_spec(folder, {.tier = "smoke", .sets = {}}, encoding::Registry::global());
  Plan const quick = plan::make_plan(smoke, test::world_with_plugins());
  CHECK(quick.train.size() == 6);
  CHECK(quick.total.flop < plan.total.flop / 20);
  auto const again = spec::read_spec(spec.resolved, "resolved", {}, encoding::Registry::global());
  CHECK(ids(plan::make_plan(again, test::world_with_plugins())) == ids(plan));
}
}  // namespace
}  // namespace sextant
