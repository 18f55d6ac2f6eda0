// What a stage costs: parameters, FLOP, bytes and seconds, by formulas that are written down here.
#pragma once
#include <sextant/encoding/encoding.hpp>
#include <sextant/spec/spec.hpp>

#include <cstdint>
#include <optional>

namespace sextant::plan {

struct Machine {
  double gflops = 60;  ///< sustained by training, all threads together: measured, or this rough guess
  double memory = 0;   ///< bytes available now; 0: not known
};

struct Cost {
  std::int64_t parameters = 0;
  double flop = 0;
  double bytes = 0;  ///< at the peak
  double seconds = 0;
};

/// What a choice of encodings and scalings adds to a model.
struct PositionFacts {
  std::int64_t parameters = 0;  ///< trained ones of the whole model
  int table_length = 0;         ///< > 0: positions must stay below
  std::optional<encoding::PositionSampler> sampler;
  double token_bytes = 0;  ///< what the encodings of all layers keep of a token beside query, key and value
  double kept_bytes = 0;   ///< the same, of what all layers keep also when no backward will run
};

/// Trained numbers: embedding (and output layer when not tied), per layer query, key, value, output, feed-forward and
/// norms, the last norm, and the encoding's.
std::int64_t parameters_of(spec::Model const& model, PositionFacts const& position);

/// FLOP of a forward pass over rows of `length` tokens, `tokens` in all: 2 for each weight of a matrix product and
/// token, and 2 length heads head_width a layer and token for causal attention (half of QK^T and PV).
double forward_flop(spec::Model const& model, double tokens, double length);

/// Bytes of fp32 activations, the workspace of attention and the logits at hand, as the model room plans them.
/// `backward`: kept for every layer, with gradients; `recompute`: of every layer its input alone.
double activation_bytes(spec::Model const& model, double rows, double length, bool backward, bool recompute = false);

/// Three forward passes' FLOP a step, four where `recompute` asks for each layer's forward once more; parameters, gradients,
/// two moments and activations: of every layer, or with `recompute` of one and every layer's input.
Cost train_cost(spec::Model const& model, spec::Steps const& steps, PositionFacts const& position,
                Machine const& machine, bool recompute = false);

/// Windows in one forward pass: as many as hold 8192 tokens, at least one.
int evaluate_rows(spec::Evaluation const& evaluation, int seen);

/// A forward pass over the `seen` last tokens of every window; of probes that compare passes one more for each measure, and
/// two tables of logits; of repetition one for each way to write, slower, and keys and values of all layers.
Cost evaluate_cost(spec::Model const& model, spec::Evaluation const& evaluation, int rows, int seen,
                   PositionFacts const& position, Machine const& machine);

/// Bytes that this machine could give to a process now: MemAvailable, or the cgroup's limit when that is lower.
double available_memory();

}  // namespace sextant::plan
