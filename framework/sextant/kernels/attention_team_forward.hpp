// Attention by teams, forward: a team owns a block of query rows of one head and walks the tiles of keys that it sees,
// with an online softmax.
#pragma once
#include <sextant/kernels/attention_team_tile.hpp>

namespace sextant::kernels::team {

template <class T, class Chain>
struct Forward {
  Arrays<T> p;
  Chain chain;
  Rows<T> out;

  KOKKOS_FUNCTION int blocks() const { return blocks_of(p.query_len, tile_rows); }
  std::int64_t teams() const { return std::int64_t(p.batch) * p.heads * blocks(); }
  std::size_t bytes() const {
    Cursor memory;
    Scratch(p, memory);
    return memory.used();
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Cursor memory) const {
    Scratch const s(p, memory);
    int const lanes = p.batch * p.heads, lane = team.league_rank() % lanes;
    int const b = lane / p.heads, h = lane % p.heads, kv_head = h / p.group();
    int const row = (blocks() - 1 - team.league_rank() / lanes) * tile_rows;  // the long rows first
    int const rows = rest(p.query_len, row, tile_rows);
    MaskRow const mask(p.mask, b, p.query_len, p.key_len);
    int const* const query_ids = mask.query_ids() ? mask.query_ids() + row : nullptr;
    load(team, p.query.at(b, h, row), p.query.row, rows, tile_rows, p.head_dim, query_ids, p.scale, s.query);
    clear(team, s.out, tile_rows);
    each(team, tile_rows, [&](int r) { s.top[r] = T(hidden_below), s.sum[r] = T(0); });
    Span const hull = mask.keys(row, rows);
    for (int col = hull.begin / tile_cols * tile_cols; col < hull.end; col += tile_cols) {
      int const cols = rest(p.key_len, col, tile_cols);
      if (!chain.visible(b, row, rows, col, cols)) continue;
      team.team_barrier();  // the tile before is done with
      load_keys(team, p, mask, b, kv_head, col, cols, s.key, s.value);
      team.team_barrier();
      Tile<T> const tile = p.tile(b, h, row, rows, col, cols, s.logit.data, s.logit.stride);
      form_logits(team, p, chain, mask, tile, s.query, s.key, s.logit);
      add_values(team, s);
    }
    team.team_barrier();
    finish(team, s, b, h, row, rows);
  }

 private:
  struct Scratch {
    Panel<T> query, key, value, logit, out;
    T *top, *sum, *factor;  ///< of each row: largest logit so far, sum of weights beside it, what older sums shrink by
    KOKKOS_FUNCTION Scratch(Arrays<T> const& p, Cursor& memory)
        : query(Panel<T>::take(memory, tile_rows, padded(p.head_dim))),
          key(Panel<T>::take(memory, tile_cols, padded(p.head_dim))),
          value(Panel<T>::take(memory, tile_cols, padded(p.value_dim))),
          logit(Panel<T>::take(memory, tile_rows, tile_cols)),
          out(Panel<T>::take(memory, tile_rows, padded(p.value_dim))),
          top(memory.take<T>(tile_rows)),
          sum(memory.take<T>(tile_rows)),
          factor(memory.take<T>(tile_rows)) {}
  };

  /// Logits to weights, and their values into the rows' running sums.
  template <class Team>
  KOKKOS_FUNCTION void add_values(Team const& team, Scratch const& s) const {
    each(team, tile_rows, [&](int r) {
      T top = s.top[r], sum = 0;
      for (int c = 0; c < tile_cols; ++c) top = top < s.logit(r, c) ? s.logit(r, c) : top;
      for (int c = 0; c < tile_cols; ++c) sum += s.logit(r, c) = math::exp(s.logit(r, c) - top);
      s.factor[r] = math::exp(s.top[r] - top);
      s.sum[r] = s.sum[r] * s.factor[r] + sum;
      s.top[r] = top;
    });
    team.team_barrier();
    product<T>(
        team, tile_rows, padded(p.value_dim), tile_cols, [&](int i, int j) { return s.logit(i, j); },
        [&](int j, int d) { return s.value(j, d); },
        [&](int i, int d, T x) { s.out(i, d) = s.out(i, d) * s.factor[i] + x; });
  }

  template <class Team>
  KOKKOS_FUNCTION void finish(Team const& team, Scratch const& s, int b, int h, int row, int rows) const {
    each(team, rows * p.value_dim, [&](int n) {
      int const r = n / p.value_dim, d = n % p.value_dim;
      out.at(b, h, row + r)[d] = s.sum[r] == T(0) ? T(0) : s.out(r, d) / s.sum[r];
    });
    each(team, rows, [&](int r) {
      bool const empty = s.sum[r] == T(0);
      p.log_sum_exp_at(b, h)[row + r] = empty ? -std::numeric_limits<T>::infinity() : s.top[r] + math::log(s.sum[r]);
    });
  }
};

}  // namespace sextant::kernels::team
