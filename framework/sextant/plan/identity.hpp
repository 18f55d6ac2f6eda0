// What a stage is called: the hash of everything that determines its result.
#pragma once
#include <sextant/plan/plan.hpp>

#include <string>

namespace sextant::plan {

/// JSON with sorted keys and numbers that keep every bit. Holds no arm or view, order, wall time or place in the spec.
std::string canonical_train(TrainStage const& stage, World const& world);
std::string canonical_evaluate(EvaluateStage const& stage, World const& world);

/// The part of both that says which encodings and scalings act, by which plugin files.
std::string canonical_position(encoding::PositionChoice const& position, World const& world);

/// First 16 hex digits of the SHA-256.
std::string id_of(std::string const& canonical);

}  // namespace sextant::plan
