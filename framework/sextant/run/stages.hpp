// Carrying out one stage: train a model, or measure one.
#pragma once
#include <sextant/base/philox.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/model/model.hpp>
#include <sextant/plan/plan.hpp>
#include <sextant/results/store.hpp>
#include <sextant/run/progress.hpp>
#include <sextant/tasks/corpus.hpp>

#include <memory>
#include <string>

namespace sextant::run {

using Network = model::Model<float>;

/// The training and the test text that a spec's `data` block makes of its corpus.
tasks::Split split_of(tasks::Corpus const& corpus, spec::Data const& data);

/// A model as a stage describes it, with fresh parameters.
Network make_network(plan::TrainStage const& stage, encoding::Registry const& registry);

/// The position block of a stage. `target_length`: tokens it will read.
std::shared_ptr<encoding::Position const> make_position(spec::Model const& model,
                                                        encoding::PositionChoice const& choice,
                                                        encoding::Registry const& registry, int target_length);

/// Positions of one row, as an encoding's sampler asks for.
void draw_positions(encoding::PositionSampler const& sampler, Stream const& stream, std::uint64_t row, int count,
                    double* out);

/// Trains, saving as the stage says and resuming from what is in the claim's folder, bit for bit as if never stopped.
/// Leaves weights.safetensors there and returns the record. Throws Stopped after saving when a stop was requested.
results::Group train(Exec const& exec, plan::TrainStage const& stage, tasks::Corpus const& corpus,
                     encoding::Registry const& registry, results::Claim const& claim, Progress& progress);

/// `network` holds the trained weights, seen under the stage's position block. Returns the record: loss over the fixed
/// windows as rows of results/ and as arrays of eval/<name>/.
results::Group evaluate(Exec const& exec, plan::EvaluateStage const& stage, plan::Plan const& plan,
                        std::string const& run, tasks::Corpus const& corpus, Network& network, Progress& progress);

/// Where train() left the weights.
fs::path weights_file(results::Store const& store, std::string const& train_id);

}  // namespace sextant::run
