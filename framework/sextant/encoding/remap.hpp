// Rules of methods that meet near and far keys at different angles, pair by pair and for whole blocks of positions.
// Positions may be fractional, repeat or restart; a key ahead of its query counts as near.
#pragma once
#include <sextant/kernels/strip.hpp>
#include <sextant/kernels/tile.hpp>

#include <algorithm>

namespace sextant::encoding {
using kernels::BranchRule;

/// Closed ranges of query and key positions. Rounding keeps order, so what holds for these ends holds between them.
struct PositionBlock {
  double query_least, query_most, key_least, key_most;
  double nearest() const { return query_least - key_most; }
  double farthest() const { return query_most - key_least; }
};

/// Branch 0 for keys less than `reach` tokens behind the query, branch 1 from there on.
struct NearFar {
  double reach;
  int of_pair(double query, double key) const { return query - key < reach ? 0 : 1; }
  int of_block(PositionBlock const& block) const {
    if (block.farthest() < reach) return 0;
    return block.nearest() >= reach ? 1 : BranchRule::mixed;
  }
};

/// What stays visible of a long past: keys less than `window` tokens behind, and those at positions below `sinks`.
struct SinkWindow {
  double sinks, window;
  bool shows(double query, double key) const { return query - key < window || key < sinks; }
  kernels::Visible of_block(PositionBlock const& block) const {
    double const first_that_may_hide = std::max(block.key_least, sinks);
    if (first_that_may_hide > block.key_most || block.query_most - first_that_may_hide < window)
      return kernels::Visible::all;
    return block.nearest() >= window && block.key_least >= sinks ? kernels::Visible::none : kernels::Visible::some;
  }
};

}  // namespace sextant::encoding
