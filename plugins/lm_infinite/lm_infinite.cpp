// LM-Infinite: a window and the first tokens stay visible, and no distance counts as more than a limit.
//
//   visible:  d < W or p_j < n          d = p_i - p_j
//   rho = min(d, limit)                 limit = W in the released code
//
// Source: Han et al., "LM-Infinite: Zero-Shot Extreme Length Generalization for Large Language Models", arXiv:2308.16137.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct LmInfinite : LadderTurn {
  int sinks = 4;
  int window = 512;
  std::optional<int> limit;

  static constexpr char const* summary = "a sliding window that keeps the first tokens, with distances cut at a limit";
  static constexpr char const* formula = "visible: d < W or p_j < n; rho = min(d, limit)";
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<LmInfinite>()
        .option("sinks", &LmInfinite::sinks, "positions from 0 that stay visible to every query", at_least(0),
                Unit{"tokens"})
        .option("window", &LmInfinite::window, "recent tokens that a query sees, itself included", at_least(1),
                Unit{"tokens"})
        .option("limit", &LmInfinite::limit, "largest distance that a pair counts as", at_least(0), Unit{"tokens"},
                MayBeAuto{"the window"});
  }

  SinkWindow visible() const { return {double(sinks), double(window)}; }
  double farthest() const { return limit.value_or(window); }

  static constexpr int branches() { return 2; }
  static constexpr int key_sets() { return 2; }
  static constexpr int key_set(int branch) { return branch; }
  int branch(double query, double key) const {
    return visible().shows(query, key) ? NearFar{farthest()}.of_pair(query, key) : BranchRule::hidden;
  }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    PositionBlock const block{query_least, query_most, key_least, key_most};
    auto const shown = visible().of_block(block);
    if (shown != kernels::Visible::all) return shown == kernels::Visible::none ? BranchRule::hidden : BranchRule::mixed;
    return NearFar{farthest()}.of_block(block);
  }
  double query_phase(int branch, double position) const { return branch == 0 ? position : farthest(); }
  double key_phase(int set, double position) const { return set == 0 ? position : 0; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LmInfinite, "lm_infinite", "arXiv:2308.16137")
