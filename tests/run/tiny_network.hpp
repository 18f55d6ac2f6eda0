// A network as a seed draws it, small enough to be read token by token.
#pragma once
#include <sextant/base/philox.hpp>
#include <sextant/run/stages.hpp>

#include <vector>

namespace sextant::test {

inline constexpr int tiny_vocabulary = 31;

inline run::Network tiny_network(encoding::Choice const& encoding, std::vector<encoding::Choice> scalings = {},
                                 int trained_length = 64) {
  plan::TrainStage stage;
  stage.model.layers = 2;
  stage.model.width = 32;
  stage.model.heads = stage.model.kv_heads = 2;
  stage.model.head_width = 16;
  stage.model.vocabulary = tiny_vocabulary;
  stage.model.mlp.width = 24;
  stage.model.init.std = 0.3;
  stage.train.length = trained_length;
  stage.seed = 5;
  stage.position = {{encoding}, std::move(scalings), trained_length};
  return run::make_network(stage, encoding::Registry::global());
}

/// A table of 64 rows.
inline encoding::Choice learned_table() { return {"learned", {{"max_length", std::int64_t{64}}}, {}}; }

inline std::vector<std::int32_t> some_tokens(int count) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<int>(Stream(2, "tokens").below(tiny_vocabulary, static_cast<std::uint64_t>(i))));
  return tokens;
}

}  // namespace sextant::test
