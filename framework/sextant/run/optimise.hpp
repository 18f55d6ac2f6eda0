// The loop of optimiser steps that training, tuning and `extend --tune` share: checkpoints, exact resume, the learning curve.
#pragma once
#include <sextant/model/trainer.hpp>
#include <sextant/results/store.hpp>
#include <sextant/results/tree.hpp>
#include <sextant/run/progress.hpp>

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant::run {

using Network = model::Model<float>;

/// The learning curve so far. It travels in the checkpoint, so that a resumed run has it whole.
struct Curve {
  std::vector<double> loss, rate, norm, wall;  ///< wall: seconds spent training, over all sittings
};

struct Optimisation {
  std::string id;    ///< of the stage: a checkpoint of another is refused
  std::string name;  ///< for people: "rope seed 3"
  model::TrainConfig config;
  int steps = 0;
  std::optional<int> save_every;  ///< steps between checkpoints; empty: only when it is stopped
  double tokens_a_step = 0;
  std::function<model::Batch(std::int64_t step)> batch;  ///< step 0 is the first
};

/// Trains `network` from where the claim's folder has it, bit for bit as if it had never stopped. Leaves
/// weights.safetensors there, whose note is `note` and the curve. Throws Stopped after saving when a stop was requested.
Curve optimise(Exec const& exec, Optimisation const& work, Network& network, nlohmann::ordered_json const& note,
               results::Claim const& claim, Progress& progress);

/// Adds the curve, by step.
void put_curve(results::Group& train, Curve const& curve, double tokens_a_step);

}  // namespace sextant::run
