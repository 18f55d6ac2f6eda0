// Self-Extend: exact RoPE for neighbours, positions grouped by floor division for what lies further. No training.
//
//   rho = d for d < W;  floor(p_i / g) + W - floor(W / g) - floor(p_j / g) beyond;  d = p_i - p_j
//
// Source: Jin et al., "LLM Maybe LongLM", arXiv:2401.01325. Where the newer released prefill shifts by W - W/g with a true
// division and its decoding with the floor, both have the floor here, so that cached and whole passes agree.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct SelfExtend : LadderTurn {
  int group_size = 8;
  int window = 1024;

  static constexpr char const* summary = "exact RoPE nearby, positions in groups of g further away";
  static constexpr char const* formula =
      "logit(i, j) = q_i^T R(-rho t) k_j / sqrt(D), rho = d, or floor(p_i/g) + W - floor(W/g) - floor(p_j/g) from W on";
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<SelfExtend>()
        .option("group", &SelfExtend::group_size, "positions that share one number beyond the window", at_least(1),
                Unit{"tokens"})
        .option("window", &SelfExtend::window, "distance from which positions are grouped", at_least(0),
                Unit{"tokens"});
  }

  static constexpr int branches() { return 2; }
  static constexpr int key_sets() { return 2; }
  static constexpr int key_set(int branch) { return branch; }
  int branch(double query, double key) const { return NearFar{double(window)}.of_pair(query, key); }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    return NearFar{double(window)}.of_block({query_least, query_most, key_least, key_most});
  }
  double grouped(double position) const { return std::floor(position / group_size); }
  double query_phase(int branch, double position) const {
    return branch == 0 ? position : grouped(position) + window - grouped(window);
  }
  double key_phase(int set, double position) const { return set == 0 ? position : grouped(position); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::SelfExtend, "self_extend", "arXiv:2401.01325")
