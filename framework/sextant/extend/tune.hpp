// More training under an arm's scalings, and the weights that come of it.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// Hash of all that determines the tuned weights.
std::string tuning_id(Subject const& subject, Arm const& arm, Tuning const& tuning, plan::World const& world);

/// Tunes a copy of the model under `arm` and leaves weights.safetensors in the stage's folder, which reads as a model.
Stage tuning_stage(Work const& work, Arm const& arm);

/// Rows [rows, length + 1] of step `step`: each a piece of one document, every piece equally likely.
View2<int> draw_rows(Tuning const& tuning, std::int64_t step);

/// Where tuning leaves the weights of an arm.
fs::path weights_file(results::Store const& store, Arm const& arm);

/// The weights that an arm is measured with.
std::shared_ptr<run::Network> weights_of(Work const& work, Arm const& arm);

}  // namespace sextant::extend
