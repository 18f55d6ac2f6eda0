#include <sextant/base/error.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/tasks/sampler.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace sextant::run {
namespace {

using Clock = std::chrono::steady_clock;

/// The learning curve so far. It travels in the checkpoint, so that a resumed run has it whole.
struct Curve {
  std::vector<double> loss, rate, norm, wall;  // wall: seconds spent training, over all sittings

  std::string to_note(std::string const& stage) const {
    return nlohmann::json{{"stage", stage}, {"loss", loss}, {"rate", rate}, {"gradient_norm", norm}, {"wall", wall}}
        .dump();
  }
  static Curve from_note(fs::path const& file, std::string const& note, std::string const& stage) {
    auto const json = nlohmann::json::parse(note, nullptr, false);
    expect(!json.is_discarded() && json.contains("stage"), file.string(), ": is not a checkpoint of a stage");
    expect(json["stage"] == stage, file.string(), ": is a checkpoint of another stage");
    return {json["loss"], json["rate"], json["gradient_norm"], json["wall"]};
  }
};

model::TrainConfig config_of(spec::Train const& t) {
  model::TrainConfig c;
  c.schedule = {.rate = t.optimiser.rate, .warmup = t.schedule.warmup, .steps = t.steps, .floor = t.schedule.floor};
  c.beta1 = t.optimiser.betas.at(0);
  c.beta2 = t.optimiser.betas.at(1);
  c.eps = t.optimiser.eps;
  c.decay = t.optimiser.decay;
  c.clip = t.optimiser.clip;
  c.check();
  return c;
}

results::Group record_of(plan::TrainStage const& stage, Curve const& curve) {
  results::Group record;
  record.set("kind", "train");
  auto& config = record["config"];
  config.set("train.length", stage.train.length).set("train.steps", stage.train.steps);
  config.set("train.rows", stage.train.rows).set("parameters", stage.cost.parameters);
  config.set("seed", stage.seed)
      .set("canonical", stage.canonical.size() < 60000 ? stage.canonical : "see spec/resolved");
  auto& train = record["train"];
  std::vector<std::int64_t> step, token;
  std::vector<double> speed;
  double const tokens = static_cast<double>(stage.train.rows) * stage.train.length;
  for (std::size_t n = 0; n < curve.loss.size(); ++n) {
    step.push_back(static_cast<std::int64_t>(n) + 1);
    token.push_back(static_cast<std::int64_t>((static_cast<double>(n) + 1) * tokens));
    speed.push_back(tokens / std::max(1e-9, curve.wall[n] - (n ? curve.wall[n - 1] : 0)));
  }
  train.put("step", step, "1", "optimiser step");
  train.put("token", token, "token", "tokens seen").along({"step"});
  train.put("loss", curve.loss, "nat/token", "training loss of the batch, before the step").along({"step"});
  train.put("rate", curve.rate, "1", "learning rate").along({"step"});
  train.put("gradient_norm", curve.norm, "1", "norm of the gradient before clipping").along({"step"});
  train.put("wall", curve.wall, "s", "time spent in training").along({"step"});
  train.put("speed", speed, "token/s", "tokens per second").along({"step"});
  train.plot("loss", {"step"});
  return record;
}

}  // namespace

results::Group train(Exec const& exec, plan::TrainStage const& stage, tasks::Corpus const& corpus,
                     encoding::Registry const& registry, results::Claim const& claim, Progress& progress) {
  auto const& settings = stage.train;
  Network network = make_network(stage, registry);
  model::Trainer<float> trainer(network, config_of(settings));
  auto const part = split_of(corpus, stage.data);
  tasks::ByteSampler const sampler(part.train, settings.length, corpus.name + "'s training text");

  fs::path const checkpoint = claim.folder() / "checkpoint.safetensors";
  Curve curve;
  if (fs::exists(checkpoint)) {
    try {
      curve = Curve::from_note(checkpoint, trainer.load(checkpoint), stage.id);
    } catch (Error const& error) {
      fail(error.what(), "; delete it to train this stage from the start");
    }
    progress.say(fmt::format("{} seed {}: resumed at step {} of {}", stage.arm, stage.seed, trainer.steps_done(),
                             settings.steps));
  }
  double const before = curve.wall.empty() ? 0 : curve.wall.back();
  auto const began = Clock::now();
  tasks::Tokens const rows("training rows", settings.rows, settings.length + 1);
  auto const save = [&] { trainer.save(checkpoint, curve.to_note(stage.id)); };
  double const tokens = static_cast<double>(settings.rows) * settings.length;
  std::int64_t const first = trainer.steps_done();
  Stream const positions(static_cast<std::uint64_t>(stage.order_seed), "train/positions");

  while (trainer.steps_done() < settings.steps) {
    std::int64_t const step = trainer.steps_done();
    sampler.batch(exec, static_cast<std::uint64_t>(stage.order_seed), step, rows);
    auto batch = model::next_token_batch(exec, rows);
    if (auto const& sampler_of_positions = network.position().sampler()) {
      batch.positions = View2<double>("positions", settings.rows, settings.length);
      for (int row = 0; row < settings.rows; ++row)
        draw_positions(*sampler_of_positions, positions, static_cast<std::uint64_t>(step) * settings.rows + row,
                       settings.length, &batch.positions(row, 0));
    }
    auto const report = trainer.step(exec, batch);
    double const spent = std::chrono::duration<double>(Clock::now() - began).count();
    curve.loss.push_back(report.loss);
    curve.rate.push_back(report.rate);
    curve.norm.push_back(report.gradient_norm);
    curve.wall.push_back(before + spent);
    std::int64_t const done = trainer.steps_done();
    progress.update(static_cast<double>(done) / settings.steps,
                    fmt::format("step {}/{}  loss {:.3f}  {:.0f} tokens/s", done, settings.steps, report.loss,
                                tokens * static_cast<double>(done - first) / spent));
    bool const due = settings.save.every && done % *settings.save.every == 0;
    if (due || stop_requested()) save();
    stop_point("while training; the checkpoint is kept");
  }
  trainer.save(claim.folder() / "weights.safetensors", curve.to_note(stage.id));
  std::error_code ignored;
  fs::remove(checkpoint, ignored);
  return record_of(stage, curve);
}

}  // namespace sextant::run
