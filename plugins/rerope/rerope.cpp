// ReRoPE: RoPE whose distances stop growing, or grow more slowly, past a window. Reaches past the trained length without
// training, since no angle beyond the window's is ever met.
//
//   rho = d for d < w;  w (leak 0) or w + (d - w) / k (leak k) beyond;  d = p_i - p_j
//   near:  query R(p_i t), key R(p_j t)      far:  query R(w t), key plain; leaky: (p_i + w (k - 1)) / k and p_j / k
//
// Source: Su, "Transformer upgrade path 12: ReRoPE", kexue.fm/archives/9708, 2023. The released patches also multiply
// queries by log-n, which is an encoding of its own here.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Rerope : LadderTurn {
  int window = 512;
  double leak = 0;

  static constexpr char const* summary = "RoPE whose distances stop, or slow down, past a window";
  static constexpr char const* formula =
      "logit(i, j) = q_i^T R(-rho t) k_j / sqrt(D), rho = min(d, w) or w + (d - w)/k";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<Rerope>()
        .option("window", &Rerope::window, "distance up to which positions are as they are", at_least(0),
                Unit{"tokens"})
        .option("leak", &Rerope::leak, "distances past the window are divided by it; 0: they stop at the window",
                at_least(0));
  }
  void check(Shape const&) const {
    expect(leak == 0 || leak >= 1, "rerope.leak is ", leak,
           ", expected 0 for distances that stop, or at least 1; below 1 they would grow faster than RoPE's");
  }

  static constexpr int branches() { return 2; }
  static constexpr int key_sets() { return 2; }
  static constexpr int key_set(int branch) { return branch; }
  int branch(double query, double key) const { return NearFar{double(window)}.of_pair(query, key); }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    return NearFar{double(window)}.of_block({query_least, query_most, key_least, key_most});
  }
  double query_phase(int branch, double position) const {
    if (branch == 0) return position;
    return leak > 0 ? (position + window * (leak - 1)) / leak : window;
  }
  double key_phase(int set, double position) const {
    if (set == 0) return position;
    return leak > 0 ? position / leak : 0;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Rerope, "rerope", "kexue.fm/archives/9708")
