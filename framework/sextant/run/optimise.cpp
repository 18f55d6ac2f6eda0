#include <sextant/base/error.hpp>
#include <sextant/run/optimise.hpp>
#include <sextant/run/stop.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>
#include <chrono>

namespace sextant::run {
namespace {
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

Json to_json(Curve const& curve, std::string const& stage) {
  return {{"stage", stage},
          {"loss", curve.loss},
          {"rate", curve.rate},
          {"gradient_norm", curve.norm},
          {"wall", curve.wall}};
}
Curve curve_of(fs::path const& file, std::string const& note, std::string const& stage) {
  auto const json = Json::parse(note, nullptr, false);
  expect(json.is_object() && json.contains("stage"), file.string(), ": is not a checkpoint of a stage");
  expect(json["stage"] == stage, file.string(), ": is a checkpoint of another stage");
  return {json["loss"], json["rate"], json["gradient_norm"], json["wall"]};
}
}  // namespace

Curve optimise(Exec const& exec, Optimisation const& work, Network& network, Json const& note,
               results::Claim const& claim, Progress& progress) {
  model::Trainer<float> trainer(network, work.config);
  fs::path const checkpoint = claim.folder() / "checkpoint.safetensors";
  Curve curve;
  if (fs::exists(checkpoint)) {
    try {
      curve = curve_of(checkpoint, trainer.load(checkpoint), work.id);
    } catch (Error const& error) {
      fail(error.what(), "; delete it to train this stage from the start");
    }
    progress.say(fmt::format("{}: resumed at step {} of {}", work.name, trainer.steps_done(), work.steps));
  }
  double const before = curve.wall.empty() ? 0 : curve.wall.back();
  auto const began = Clock::now();
  std::int64_t const first = trainer.steps_done();
  while (trainer.steps_done() < work.steps) {
    auto const report = trainer.step(exec, work.batch(trainer.steps_done()));
    double const spent = std::chrono::duration<double>(Clock::now() - began).count();
    curve.loss.push_back(report.loss);
    curve.rate.push_back(report.rate);
    curve.norm.push_back(report.gradient_norm);
    curve.wall.push_back(before + spent);
    std::int64_t const done = trainer.steps_done();
    progress.update(static_cast<double>(done) / work.steps,
                    fmt::format("step {}/{}  loss {:.3f}  {:.0f} tokens/s", done, work.steps, report.loss,
                                work.tokens_a_step * static_cast<double>(done - first) / spent));
    bool const due = work.save_every && done % *work.save_every == 0;
    if (due || stop_requested()) trainer.save(checkpoint, to_json(curve, work.id).dump());
    stop_point("while training; the checkpoint is kept");
  }
  Json whole = to_json(curve, work.id);
  whole.update(note);
  model::save_parameters(claim.folder() / "weights.safetensors", network, whole.dump());
  std::error_code ignored;
  fs::remove(checkpoint, ignored);
  return curve;
}

void put_curve(results::Group& train, Curve const& curve, double tokens_a_step) {
  std::vector<std::int64_t> step, token;
  std::vector<double> speed;
  for (std::size_t n = 0; n < curve.loss.size(); ++n) {
    step.push_back(static_cast<std::int64_t>(n) + 1);
    token.push_back(static_cast<std::int64_t>((static_cast<double>(n) + 1) * tokens_a_step));
    speed.push_back(tokens_a_step / std::max(1e-9, curve.wall[n] - (n ? curve.wall[n - 1] : 0)));
  }
  train.put("step", step, "1", "optimiser step");
  train.put("token", token, "token", "tokens seen").along({"step"});
  train.put("loss", curve.loss, "nat/token", "training loss of the batch, before the step").along({"step"});
  train.put("rate", curve.rate, "1", "learning rate").along({"step"});
  train.put("gradient_norm", curve.norm, "1", "norm of the gradient before clipping").along({"step"});
  train.put("wall", curve.wall, "s", "time spent in training").along({"step"});
  train.put("speed", speed, "token/s", "tokens per second").along({"step"});
  train.plot("loss", {"step"});
}

}  // namespace sextant::run
