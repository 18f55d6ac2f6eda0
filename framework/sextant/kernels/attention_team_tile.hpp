// What a team of threads does with the tile in its scratch memory: loads, products, logits. For any execution space.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/math.hpp>
#include <sextant/kernels/attention_problem.hpp>

#include <limits>

namespace sextant::kernels::team {
using host::Arrays;
using host::Cursor;
using host::hidden_below;
using host::MaskRow;
using host::Rows;
using host::Span;

inline constexpr int tile_rows = 32;  ///< queries of a tile
inline constexpr int tile_cols = 32;  ///< keys of a tile
inline constexpr int step = 4;        ///< rows and columns of sums that a thread keeps in registers
static_assert(tile_rows % step == 0 && tile_cols % step == 0);

/// Channels in whole steps: what lies past the last one is zero in scratch.
KOKKOS_INLINE_FUNCTION int padded(int channels) { return (channels + step - 1) / step * step; }

/// [rows, stride] in scratch; an odd stride, so that threads on neighbouring rows use different banks.
template <class T>
struct Panel {
  T* data = nullptr;
  int stride = 0;
  KOKKOS_FUNCTION T& operator()(int r, int c) const { return data[r * stride + c]; }
  KOKKOS_FUNCTION static Panel take(Cursor& memory, int rows, int cols) {
    return {memory.take<T>(std::int64_t(rows) * (cols + 1)), cols + 1};
  }
};

/// f(0), ..., f(n - 1) by the threads of the team.
template <class Team, class F>
KOKKOS_INLINE_FUNCTION void each(Team const& team, int n, F const& f) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), f);
}

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

/// Blocks of `tile` that `length` is cut into, and what of it the one that begins at `begin` holds: the last may be short.
KOKKOS_INLINE_FUNCTION int blocks_of(int length, int tile) { return (length + tile - 1) / tile; }
KOKKOS_INLINE_FUNCTION int rest(int length, int begin, int tile) {
  return length - begin < tile ? length - begin : tile;
}

/// `cols` keys and values from `col` on.
template <class T, class Team>
KOKKOS_FUNCTION void load_keys(Team const& team, Arrays<T> const& p, MaskRow const& mask, int b, int kv_head, int col,
                               int cols, Panel<T> key, Panel<T> value) {
  int const* const ids = mask.key_ids() ? mask.key_ids() + col : nullptr;
  load(team, p.key.at(b, kv_head, col), p.key.row, cols, tile_cols, p.head_dim, ids, T(1), key);
  load(team, p.value.at(b, kv_head, col), p.value.row, cols, tile_cols, p.value_dim, ids, T(1), value);
}

template <class T, class Team>
KOKKOS_FUNCTION void clear(Team const& team, Panel<T> x, int rows) {
  each(team, rows * x.stride, [&](int n) { x.data[n] = T(0); });
}

/// finish(i, j, sum over k < depth of a(i, k) b(k, j)), in the order of k, for i < rows and j < cols in whole steps.
template <class T, class Team, class A, class B, class Finish>
KOKKOS_FUNCTION void product(Team const& team, int rows, int cols, int depth, A const& a, B const& b,
                             Finish const& finish) {
  int const down = rows / step, across = cols / step;
  each(team, down * across, [&](int n) {
    int const i = n / across, j = n % across;  // and every `down`-th row, every `across`-th column from there
    T x[step][step] = {};
    for (int k = 0; k < depth; ++k) {
      T left[step], right[step];
      for (int s = 0; s < step; ++s) left[s] = a(i + s * down, k), right[s] = b(k, j + s * across);
      for (int r = 0; r < step; ++r)
        for (int c = 0; c < step; ++c) x[r][c] += left[r] * right[c];
    }
    for (int r = 0; r < step; ++r)
      for (int c = 0; c < step; ++c) finish(i + r * down, j + c * across, x[r][c]);
  });
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

/// The scratch level that holds `bytes` a team, the fast one if it fits.
template <class Policy>
int scratch_level(Policy const& policy, std::size_t bytes) {
  return bytes <= static_cast<std::size_t>(policy.scratch_size_max(0)) ? 0 : 1;
}

/// functor(team, scratch) as Kokkos calls it.
template <class Space, class Functor>
struct WithScratch {
  Functor functor;
  std::size_t bytes;
  int level;
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    functor(team, Cursor(team.team_scratch(level).get_shmem(bytes)));
  }
};

/// Launches `teams` teams of functor(team, scratch) with `bytes` of scratch each; team_size 0 leaves it to Kokkos.
template <class Space, class Functor>
void launch_teams(Space const& space, char const* label, std::int64_t teams, int team_size, std::size_t bytes,
                  Functor const& functor) {
  using Policy = Kokkos::TeamPolicy<Space>;
  int const league = static_cast<int>(teams);
  Policy policy = team_size > 0 ? Policy(space, league, team_size) : Policy(space, league, Kokkos::AUTO);
  std::size_t const room = bytes + 64;
  int const level = scratch_level(policy, room);
  policy.set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(room)));
  Kokkos::parallel_for(label, policy, WithScratch<Space, Functor>{functor, bytes, level});
}

}  // namespace sextant::kernels::team
