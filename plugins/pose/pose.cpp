// PoSE: while training, a row stands in two runs of neighbours with a gap between, so that distances of long texts are met
// in short rows.
//
//   p = 0, 1, ..., m - 1, m + g, ..., L - 1 + g;  m from 1 .. (L + 1) / 2, g from 0 .. below - L, drawn anew for every row
//
// Source: Zhu et al., "PoSE: Efficient Context Window Extension of LLMs via Positional Skip-wise Training",
// arXiv:2309.10400, with the released code's draws. The text itself goes on across the gap. Evaluations and cached decoding
// count 0, 1, 2, ...
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Pose {
  int below = 2048;

  static constexpr char const* summary = "skips positions once in every row of training, for any encoding";
  static constexpr char const* formula = "p_i = i, and i + g from a drawn token on; then as its part says";

  static std::vector<Example> examples() { return {{{{"below", std::int64_t{64}}}, {{"rope", {}, {}}}}}; }

  static auto schema() {
    return Schema<Pose>{}.option("below", &Pose::below, "length that training is to reach", between(2, 16777216),
                                 Unit{"tokens"});
  }
  std::vector<Encoding::Region> regions(Shape const& shape, int parts) const {
    expect(parts == 1, "pose has ", parts, " parts, expected 1: the encoding that sees the positions");
    return {{0, shape.heads, 0, shape.head_dim, true}};
  }
  PositionSampler sampler() const { return {below, false, true}; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Pose, "pose", "arXiv:2309.10400")
