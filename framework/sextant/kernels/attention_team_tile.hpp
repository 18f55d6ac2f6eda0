// What a team of threads does with a tile of queries and keys in its scratch memory: loads, logits.
#pragma once
#include <sextant/base/math.hpp>
#include <sextant/kernels/attention_problem.hpp>
#include <sextant/kernels/team_tile.hpp>

#include <limits>

namespace sextant::kernels::team {
using host::Arrays;
using host::hidden_below;
using host::MaskRow;
using host::Rows;
using host::Span;

inline constexpr int tile_rows = 32;  ///< queries of a tile
inline constexpr int tile_cols = 32;  ///< keys of a tile
static_assert(tile_rows % step == 0 && tile_cols % step == 0);

/// `rows` rows at `from` times `factor`; zeros past them up to `capacity`, past their end, and where an id is padding.
template <class T, class Team>
KOKKOS_FUNCTION void load(Team const& team, T const* from, std::ptrdiff_t stride, int rows, int capacity, int channels,
                          int const* ids, T factor, Panel<T> to) {
  int const wide = padded(channels);
  each(team, capacity * wide, [&](int n) {
    int const r = n / wide, d = n % wide;
    bool const used = r < rows && d < channels && (!ids || ids[r] >= 0);
    to(r, d) = used ? from[r * stride + d] * factor : T(0);
  });
}

/// `cols` keys and values from `col` on.
template <class T, class Team>
KOKKOS_FUNCTION void load_keys(Team const& team, Arrays<T> const& p, MaskRow const& mask, int b, int kv_head, int col,
                               int cols, Panel<T> key, Panel<T> value) {
  int const* const ids = mask.key_ids() ? mask.key_ids() + col : nullptr;
  load(team, p.key.at(b, kv_head, col), p.key.row, cols, tile_cols, p.head_dim, ids, T(1), key);
  load(team, p.value.at(b, kv_head, col), p.value.row, cols, tile_cols, p.value_dim, ids, T(1), value);
}

/// logit = query . key + what the chain adds, -infinity where the mask hides the pair or there is none.
template <class T, class Chain, class Team>
KOKKOS_FUNCTION void form_logits(Team const& team, Arrays<T> const& p, Chain const& chain, MaskRow const& mask,
                                 Tile<T> const& tile, Panel<T> query, Panel<T> key, Panel<T> logit) {
  product<T>(
      team, tile_rows, tile_cols, p.head_dim, [&](int i, int d) { return query(i, d); },
      [&](int d, int j) { return key(j, d); }, [&](int i, int j, T x) { logit(i, j) = x; });
  team.team_barrier();
  chain.forward(team, tile);
  team.team_barrier();
  each(team, tile_rows * tile_cols, [&](int n) {
    int const r = n / tile_cols, c = n % tile_cols;
    if (r >= tile.rows || c >= tile.cols || !mask.visible(tile.row + r, tile.col + c))
      logit(r, c) = -std::numeric_limits<T>::infinity();
  });
  team.team_barrier();
}

}  // namespace sextant::kernels::team
