// What a stage costs: parameters, FLOP, bytes and seconds, by formulas that are written down here.
#pragma once
#include <sextant/spec/spec.hpp>

#include <cstdint>

namespace sextant::plan {

struct Machine {
  double gflops = 60;          ///< sustained by training, all threads together; measured, or this rough guess
  double memory = 0;           ///< bytes available now; 0: not known, only budget.memory is held
  int threads = 1;
};

struct Cost {
  std::int64_t parameters = 0;
  double flop = 0;
  double bytes = 0;  ///< at the peak
  double seconds = 0;
};

/// What a choice of encodings and scalings adds to a model.
struct PositionFacts {
  std::int64_t parameters = 0;  ///< of the whole model
  int table_length = 0;         ///< > 0: positions must stay below
};

inline constexpr int vocabulary = 256;  ///< bytes

std::int64_t parameters_of(spec::Model const& model, PositionFacts const& position);

/// FLOP of one forward pass over one row: 2 per weight used and token, and causal attention's 2 length^2 heads
/// head_width multiply-adds halved by the mask.
double forward_flop(spec::Model const& model, std::int64_t parameters, double tokens, double length);

Cost train_cost(spec::Model const& model, spec::Train const& train, PositionFacts const& position, Machine const& machine);

/// `rows` windows of `seen` tokens run in batches that hold about as many tokens as a training batch.
Cost evaluate_cost(spec::Model const& model, spec::Evaluation const& evaluation, int length, PositionFacts const& position,
                   Machine const& machine);

/// Bytes this machine could give to a new process now (MemAvailable, and the cgroup's limit when it is lower).
double available_memory();

}  // namespace sextant::plan
