#include <sextant/run/batches.hpp>
#include <sextant/run/optimise.hpp>
#include <sextant/run/stages.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::run {
namespace {

model::TrainConfig config_of(plan::TrainStage const& stage) {
  spec::Steps const& t = stage.train;
  model::TrainConfig c;
  c.pass = {.recompute = stage.recompute, .tokens_at_once = t.at_once.value_or(0)};
  c.schedule = {
      .rate = t.optimiser.rate, .warmup = t.schedule.warmup, .steps = std::max(t.steps, 1), .floor = t.schedule.floor};
  c.beta1 = t.optimiser.betas.at(0);
  c.beta2 = t.optimiser.betas.at(1);
  c.eps = t.optimiser.eps;
  c.decay = t.optimiser.decay;
  c.clip = t.optimiser.clip;
  c.check();
  return c;
}

results::Group record_of(plan::TrainStage const& stage, Source const& source, Curve const& curve, double tokens) {
  results::Group record;
  record.set("kind", "train");
  auto& config = record["config"];
  std::string const block = stage.parent.empty() ? "train." : "tune.";
  config.set(block + "length", stage.train.length).set(block + "steps", stage.train.steps);
  config.set(block + "rows", stage.train.rows).set("parameters", stage.cost.parameters);
  if (source.task) config.set("train.longest_example", source.task->longest());
  config.set("seed", stage.seed)
      .set("canonical", stage.canonical.size() < 60000 ? stage.canonical : "see spec/resolved");
  put_curve(record["train"], curve, tokens);
  return record;
}

}  // namespace

void draw_batch_positions(Network const& network, std::int64_t seed, std::int64_t step, model::Batch& batch) {
  auto const& sampler = network.position().sampler();
  if (!sampler) return;
  auto const rows = static_cast<std::uint64_t>(batch.size());
  batch.positions = drawn_positions(*sampler, Stream(static_cast<std::uint64_t>(seed), "train/positions"),
                                    static_cast<std::uint64_t>(step) * rows, batch.size(), batch.seq_len());
}

results::Group train(Exec const& exec, plan::TrainStage const& stage, Source const& source, Network& network,
                     nlohmann::ordered_json const& note, results::Claim const& claim, Progress& progress) {
  auto const& settings = stage.train;
  Batches const batches(stage, source);
  double const tokens = static_cast<double>(settings.rows) * settings.length;
  Optimisation const work{.id = stage.id,
                          .name = fmt::format("{} seed {}", stage.arm, stage.seed),
                          .config = config_of(stage),
                          .steps = settings.steps,
                          .save_every = settings.save.every,
                          .tokens_a_step = tokens,
                          .batch = [&](std::int64_t done) {
                            std::int64_t const step = stage.batches_before + done;
                            auto batch = batches(exec, step);
                            draw_batch_positions(network, stage.order_seed, step, batch);
                            return batch;
                          }};
  Curve const curve = optimise(exec, work, network, note, claim, progress);
  return record_of(stage, source, curve, tokens);
}

}  // namespace sextant::run
