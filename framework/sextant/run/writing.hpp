// A model that writes on, and how much of what is written stood there before: what the probe repetition measures.
#pragma once
#include <sextant/run/stages.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace sextant::run {

/// The next token of a row from the logits behind those before it; `step` 0 is the first token that is written.
using Choose = std::function<std::int32_t(std::span<float const> logits, int row, int step)>;

/// tokens [rows, length]: `prompts` [rows, less than length], then what `choose` takes, read through a key cache. A row does
/// not depend on those beside it; at most kernels::few_rows of them. `positions` [rows, length], or empty: 0, 1, 2, ...
/// Throws Error where a logit is not finite, or a scaling turns the prompt otherwise once more is written.
View2<int> write_on(Exec const& exec, Network& network, View2<int> const& prompts, View2<double> const& positions,
                    int length, Choose const& choose);

/// The first of the largest.
std::int32_t likeliest(std::span<float const> logits);
/// Token v with the probability softmax(logits)[v], for `uniform` evenly from [0, 1). Sums are double, in the order of v.
std::int32_t drawn(std::span<float const> logits, double uniform);

/// Share of the runs of n tokens that stood in `tokens` before: 1 - distinct / all. Runs overlap.
/// Source: Welleck et al., "Neural text generation with unlikelihood training", arXiv:1908.04319 (seq-rep-n).
double repeated(std::span<std::int32_t const> tokens, int n);

}  // namespace sextant::run
