// Pretrained models that a spec starts from.
#pragma once
#include <sextant/encoding/registry.hpp>
#include <sextant/model/config.hpp>
#include <sextant/spec/pretrained.hpp>

#include <filesystem>

namespace sextant::run {

/// Models of the cache, files and folders, each looked at once. `registry` must outlive it.
spec::Catalogue::Models models_of(encoding::Registry const& registry, std::filesystem::path const& cache);

/// A spec's model block as the model room has it.
model::ModelConfig config_of(spec::Model const& model);
/// And back; what a spec cannot say of it (from, init) is as in a fresh block.
spec::Model model_of(model::ModelConfig const& config);

/// The block as a model keeps it that is now read at another length than it was trained at: scalings that go by the trained
/// length name it.
encoding::PositionChoice with_original_length(encoding::PositionChoice position);

}  // namespace sextant::run
