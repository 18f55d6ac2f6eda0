// Randomised positions: a row's tokens stand at sorted random places of a range longer than the row, so that distances
// of long texts are met while training on short ones.
//
//   p_0 < p_1 < ... < p_{L-1}, a subset of {0, ..., below - 1} drawn anew for every row; the parts see these positions
//
// Source: Ruoss et al., "Randomized Positional Encodings Boost Length Generalization of Transformers", arXiv:2305.16843.
// There evaluations draw too; `at_evaluation: false` evaluates at 0, 1, 2, ... instead, and so does cached decoding,
// which cannot know how long the text will become.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Randomised {
  int below = 2048;
  bool at_evaluation = true;

  static constexpr char const* summary = "draws the positions of every row from a longer range, for any encoding";
  static constexpr char const* formula = "p_0 < ... < p_{L-1} drawn from {0, ..., below - 1}; then as its part says";

  static std::vector<Example> examples() { return {{{{"below", std::int64_t{64}}}, {{"rope", {}, {}}}}}; }

  static auto schema() {
    return Schema<Randomised>{}
        .option("below", &Randomised::below, "length of the range that positions are drawn from", between(2, 16777216),
                Unit{"tokens"})
        .option("at_evaluation", &Randomised::at_evaluation, "draw them in evaluations too, one draw a window");
  }

  std::vector<Encoding::Region> regions(Shape const& shape, int parts) const {
    expect(parts == 1, "randomised has ", parts, " parts, expected 1: the encoding that sees the positions");
    return {{0, shape.heads, 0, shape.head_dim, true}};
  }
  PositionSampler sampler() const { return {below, at_evaluation}; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Randomised, "randomised", "arXiv:2305.16843")
