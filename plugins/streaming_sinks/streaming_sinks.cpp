// StreamingLLM: a sliding window that always keeps the first tokens of the text, with RoPE at the places that keys have
// in a rolling cache of sinks + window tokens.
//
//   visible:  d < W or p_j < n                    W counts the query itself; d = p_i - p_j
//   cache:    rho = d inside the window, min(p_i, n + W - 1) - p_j to a sink beyond it
//   original: rho = d
//
// Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", arXiv:2309.17453.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class SinkPositions { cache, original };

struct StreamingSinks : LadderTurn {
  int sinks = 4;
  int window = 512;
  SinkPositions rope_positions = SinkPositions::cache;

  static constexpr char const* summary = "a sliding window that keeps the first tokens, turned as in a rolling cache";
  static constexpr char const* formula =
      "visible: d < W or p_j < n; rho = d, to a sink beyond the window min(p_i, n + W - 1) - p_j";
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<StreamingSinks>()
        .option("sinks", &StreamingSinks::sinks, "positions from 0 that stay visible to every query", at_least(0),
                Unit{"tokens"})
        .option("window", &StreamingSinks::window, "recent tokens that a query sees, itself included", at_least(1),
                Unit{"tokens"})
        .choice("rope_positions", &StreamingSinks::rope_positions,
                "distance to a sink beyond the window: that in the rolling cache, or that in the text",
                {{"cache", SinkPositions::cache}, {"original", SinkPositions::original}});
  }

  SinkWindow visible() const { return {double(sinks), double(window)}; }
  bool rolls() const { return rope_positions == SinkPositions::cache; }

  int branches() const { return rolls() ? 2 : 1; }
  static constexpr int key_sets() { return 1; }
  static constexpr int key_set(int) { return 0; }
  int branch(double query, double key) const {
    if (!visible().shows(query, key)) return BranchRule::hidden;
    return rolls() ? NearFar{double(window)}.of_pair(query, key) : 0;
  }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    PositionBlock const block{query_least, query_most, key_least, key_most};
    auto const shown = visible().of_block(block);
    if (shown != kernels::Visible::all) return shown == kernels::Visible::none ? BranchRule::hidden : BranchRule::mixed;
    return rolls() ? NearFar{double(window)}.of_block(block) : 0;
  }
  double query_phase(int branch, double position) const {
    return branch == 0 ? position : std::min(position, sinks + window - 1.0);
  }
  double key_phase(int, double position) const { return position; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::StreamingSinks, "streaming_sinks", "arXiv:2309.17453")
