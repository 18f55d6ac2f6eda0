// Carrying out one stage: train a model, or measure one.
#pragma once
#include <sextant/base/philox.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/model/model.hpp>
#include <sextant/plan/plan.hpp>
#include <sextant/results/store.hpp>
#include <sextant/run/optimise.hpp>
#include <sextant/run/source.hpp>

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <span>
#include <string>

namespace sextant::run {

/// A model as a stage describes it: parameters as drawn from its seed, or zero, to be filled with others.
Network make_network(plan::TrainStage const& stage, encoding::Registry const& registry,
                     model::Start start = model::Start::drawn);

/// What the stage begins with: its parent's weights, those of model.from, or fresh ones.
Network first_network(plan::TrainStage const& stage, encoding::Registry const& registry, results::Store const& store,
                      fs::path const& cache);

/// The position block of a stage. `target_length`: tokens it will read.
std::shared_ptr<encoding::Position const> make_position(spec::Model const& model,
                                                        encoding::PositionChoice const& choice,
                                                        encoding::Registry const& registry, int target_length);

/// Positions [rows, length] of row `first` of the stream and those behind it, as an encoding's sampler asks for.
View2<double> drawn_positions(encoding::PositionSampler const& sampler, Stream const& stream, std::uint64_t first,
                              int rows, int length);
/// A batch of one row; `positions` [1, tokens]: where each token stands; empty: 0, 1, 2, ...
model::Batch one_row(std::span<std::int32_t const> tokens, View2<double> const& positions);

/// Positions for the rows of batch `step` where the network's encoding draws them.
void draw_batch_positions(Network const& network, std::int64_t seed, std::int64_t step, model::Batch& batch);

/// Trains `network`, which holds what the stage begins with, saving as the stage says and resuming from what is in the
/// claim's folder, bit for bit as if never stopped. Leaves weights.safetensors there, with `note`, and returns the record.
/// Throws Stopped after saving when a stop was requested.
results::Group train(Exec const& exec, plan::TrainStage const& stage, Source const& source, Network& network,
                     nlohmann::ordered_json const& note, results::Claim const& claim, Progress& progress);

/// What pretrained::open_checkpoint() needs to know of the weights: the model, its position block and its tokenizer.
nlohmann::ordered_json note_of(plan::TrainStage const& stage, Network const& network, fs::path const& cache);

/// `network` holds the trained weights, seen under the stage's position block. Returns the record: what
/// the probe measures, as rows of results/ and as arrays of eval/<name>/.
results::Group evaluate(Exec const& exec, plan::EvaluateStage const& stage, plan::Plan const& plan,
                        std::string const& run, Source const& source, Network& network, Progress& progress);

/// Where train() left the weights.
fs::path weights_file(results::Store const& store, std::string const& train_id);

}  // namespace sextant::run
