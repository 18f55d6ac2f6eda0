// A study small enough to be run many times: two encodings, two seeds, a made-up text.
#pragma once
#include <sextant/base/philox.hpp>

#include "support/process.hpp"

namespace sextant::test {

/// Words drawn at random: enough order to learn, none to remember.
inline std::string made_up_text(int words) {
  char const* const vocabulary[] = {"wind ", "stone ", "river ", "of ", "the ", "and ", "light ", "under "};
  Stream const stream(3, "words");
  std::string out;
  for (int i = 0; i < words; ++i) out += vocabulary[stream.below(8, static_cast<std::uint64_t>(i))];
  return out;
}

/// Writes text and spec into `folder` and returns the spec's path. `steps` decides how long a run takes.
inline fs::path write_tiny_study(TempFolder const& folder, int steps) {
  write_file_atomically(folder / "text.txt", made_up_text(4000));
  write_file_atomically(folder / "spec.yaml",
                        text(R"(sextant: 1
study: tiny
title: A study for tests
model: {layers: 1, width: 16, heads: 2, head_width: 8, mlp: {kind: swiglu, width: 24}}
position: {encoding: rope}
data: {corpus: )",
                             (folder / "text.txt").string(), R"(, tokens: bytes, split: {train: 0.8, test: 0.2}}
train:
  steps: )",
                             steps, R"(
  length: 16
  batch: 64 tokens
  optimiser: {use: adamw, rate: 3e-3}
  schedule: {use: cosine, warmup: 3 steps}
  save: {every: 7 steps}
  seeds: [0, 5]
evaluate:
  - {use: lm_loss, lengths: [16, 32], windows: 4, keep: [mean, per_position]}
vary:
  - {key: position.encoding, stage: train, values: [[rope, alibi], fox]}
)"));
  return folder / "spec.yaml";
}

}  // namespace sextant::test
