// Attention by teams, backward: weights are formed again from the saved log-sum-exp, as in attention_backward.cpp, whose
// equations these are. Two launches, so that every sum has one team and one order and none needs atomics: one team for
// the gradient of a block of queries, one for that of a block of keys.
#pragma once
#include <sextant/kernels/attention_team_tile.hpp>

namespace sextant::kernels::team {

template <class T>
struct GradientRows {
  Rows<T const> out, grad_out;
  Rows<T> query, key, value;
};

template <class T, class Chain>
struct BackwardTile {
  Arrays<T> p;
  Chain chain;
  GradientRows<T> grad;

 protected:
  struct Scratch {
    Panel<T> query, grad_out, key, value, weight, grad_logit;
    T *dot, *log_sum;  ///< of each row: rowsum(dO O), log-sum-exp
    KOKKOS_FUNCTION Scratch(Arrays<T> const& p, Cursor& memory)
        : query(Panel<T>::take(memory, tile_rows, padded(p.head_dim))),
          grad_out(Panel<T>::take(memory, tile_rows, padded(p.value_dim))),
          key(Panel<T>::take(memory, tile_cols, padded(p.head_dim))),
          value(Panel<T>::take(memory, tile_cols, padded(p.value_dim))),
          weight(Panel<T>::take(memory, tile_rows, tile_cols)),
          grad_logit(Panel<T>::take(memory, tile_rows, tile_cols)),
          dot(memory.take<T>(tile_rows)),
          log_sum(memory.take<T>(tile_rows)) {}
  };

  template <class Team>
  KOKKOS_FUNCTION void load_rows(Team const& team, MaskRow const& mask, Scratch const& s, int b, int h, int row,
                                 int rows) const {
    int const* const ids = mask.query_ids() ? mask.query_ids() + row : nullptr;
    T const* const log_sum_exp = p.log_sum_exp_at(b, h) + row;
    auto const saw = [&](int r) {
      return r < rows && (!ids || ids[r] >= 0) && log_sum_exp[r] != -std::numeric_limits<T>::infinity();
    };
    load(team, p.query.at(b, h, row), p.query.row, rows, tile_rows, p.head_dim, ids, p.scale, s.query);
    int const wide = padded(p.value_dim);
    each(team, tile_rows * wide, [&](int n) {
      int const r = n / wide, d = n % wide;
      s.grad_out(r, d) = saw(r) && d < p.value_dim ? grad.grad_out.at(b, h, row + r)[d] : T(0);
    });
    each(team, tile_rows, [&](int r) {
      s.dot[r] = T(0);
      s.log_sum[r] = saw(r) ? log_sum_exp[r] : std::numeric_limits<T>::infinity();  // e^(x - infinity) = 0
      if (!saw(r)) return;
      T const *const out = grad.out.at(b, h, row + r), *const given = grad.grad_out.at(b, h, row + r);
      for (int d = 0; d < p.value_dim; ++d) s.dot[r] += out[d] * given[d];
    });
  }

  /// weight = P and grad_logit = dS of the tile that is loaded.
  template <class Team>
  KOKKOS_FUNCTION void grad_logits(Team const& team, MaskRow const& mask, Scratch const& s, Tile<T> const& tile) const {
    form_logits(team, p, chain, mask, tile, s.query, s.key, s.weight);
    product<T>(
        team, tile_rows, tile_cols, p.value_dim, [&](int i, int d) { return s.grad_out(i, d); },
        [&](int d, int j) { return s.value(j, d); },
        [&](int i, int j, T x) {
          T const weight = s.weight(i, j) = math::exp(s.weight(i, j) - s.log_sum[i]);
          s.grad_logit(i, j) = weight * (x - s.dot[i]);
        });
    team.team_barrier();
  }
};

/// dQ, and the chain's backward. Where a link sums over tiles, one team takes all blocks of its head in order.
template <class T, class Chain>
struct QueryBackward : BackwardTile<T, Chain> {
  using Base = BackwardTile<T, Chain>;
  using Base::p, Base::chain, Base::grad;
  using typename Base::Scratch;

  KOKKOS_FUNCTION int blocks() const { return blocks_of(p.query_len, tile_rows); }
  KOKKOS_FUNCTION int blocks_of_team() const { return chain.accumulates() ? blocks() : 1; }
  std::int64_t teams() const { return std::int64_t(p.batch) * p.heads * (blocks() / blocks_of_team()); }
  std::size_t bytes() const {
    Cursor memory;
    Scratch(p, memory), Panel<T>::take(memory, tile_rows, padded(p.head_dim));
    return memory.used();
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Cursor memory) const {
    Scratch const s(p, memory);
    Panel<T> const sum = Panel<T>::take(memory, tile_rows, padded(p.head_dim));
    int const lanes = p.batch * p.heads, lane = team.league_rank() % lanes;
    int const first = team.league_rank() / lanes, count = blocks_of_team();
    for (int n = 0; n < count; ++n) block(team, s, sum, lane / p.heads, lane % p.heads, (first + n) * tile_rows);
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION void block(Team const& team, Scratch const& s, Panel<T> sum, int b, int h, int row) const {
    int const rows = rest(p.query_len, row, tile_rows), dim = p.head_dim;
    MaskRow const mask(p.mask, b, p.query_len, p.key_len);
    team.team_barrier();
    this->load_rows(team, mask, s, b, h, row, rows);
    clear(team, sum, tile_rows);
    Span const hull = mask.keys(row, rows);
    for (int col = hull.begin / tile_cols * tile_cols; col < hull.end; col += tile_cols) {
      int const cols = rest(p.key_len, col, tile_cols);
      if (!chain.visible(b, row, rows, col, cols)) continue;
      team.team_barrier();
      load_keys(team, p, mask, b, h / p.group(), col, cols, s.key, s.value);
      team.team_barrier();
      Tile<T> const tile = p.tile(b, h, row, rows, col, cols, s.weight.data, s.weight.stride);
      this->grad_logits(team, mask, s, tile);
      chain.backward(team, tile, s.grad_logit.data, s.grad_logit.stride);
      product<T>(
          team, tile_rows, padded(dim), tile_cols, [&](int i, int j) { return s.grad_logit(i, j); },
          [&](int j, int d) { return s.key(j, d); }, [&](int i, int d, T x) { sum(i, d) += x; });
    }
    team.team_barrier();
    each(team, rows * dim,
         [&](int n) { grad.query.at(b, h, row + n / dim)[n % dim] = sum(n / dim, n % dim) * p.scale; });
  }
};

/// dK and dV of a block of keys, from all query heads of their head in order.
template <class T, class Chain>
struct KeyBackward : BackwardTile<T, Chain> {
  using Base = BackwardTile<T, Chain>;
  using Base::p, Base::chain, Base::grad;
  using typename Base::Scratch;

  KOKKOS_FUNCTION int blocks() const { return blocks_of(p.key_len, tile_cols); }
  std::int64_t teams() const { return std::int64_t(p.batch) * p.kv_heads * blocks(); }
  std::size_t bytes() const {
    Cursor memory;
    Scratch(p, memory), Sums(p, memory);
    return memory.used();
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Cursor memory) const {
    Scratch const s(p, memory);
    Sums const sum(p, memory);
    int const lanes = p.batch * p.kv_heads, lane = team.league_rank() % lanes;
    int const b = lane / p.kv_heads, kv_head = lane % p.kv_heads, col = team.league_rank() / lanes * tile_cols;
    int const cols = rest(p.key_len, col, tile_cols);
    MaskRow const mask(p.mask, b, p.query_len, p.key_len);
    load_keys(team, p, mask, b, kv_head, col, cols, s.key, s.value);
    clear(team, sum.key, tile_cols), clear(team, sum.value, tile_cols);
    for (int h = kv_head * p.group(); h < (kv_head + 1) * p.group(); ++h)
      for (int row = 0; row < p.query_len; row += tile_rows) {
        int const rows = rest(p.query_len, row, tile_rows);
        Span const hull = mask.keys(row, rows);
        if (hull.begin >= col + cols || hull.end <= col || !chain.visible(b, row, rows, col, cols)) continue;
        add_rows(team, mask, s, sum, p.tile(b, h, row, rows, col, cols, s.weight.data, s.weight.stride));
      }
    team.team_barrier();
    store(team, sum.key, grad.key, b, kv_head, col, cols, p.head_dim);
    store(team, sum.value, grad.value, b, kv_head, col, cols, p.value_dim);
  }

 private:
  struct Sums {
    Panel<T> key, value;
    KOKKOS_FUNCTION Sums(Arrays<T> const& p, Cursor& memory)
        : key(Panel<T>::take(memory, tile_cols, padded(p.head_dim))),
          value(Panel<T>::take(memory, tile_cols, padded(p.value_dim))) {}
  };

  template <class Team>
  KOKKOS_FUNCTION void add_rows(Team const& team, MaskRow const& mask, Scratch const& s, Sums const& sum,
                                Tile<T> const& tile) const {
    team.team_barrier();
    this->load_rows(team, mask, s, tile.batch, tile.head, tile.row, tile.rows);
    team.team_barrier();
    this->grad_logits(team, mask, s, tile);
    product<T>(
        team, tile_cols, padded(p.value_dim), tile_rows, [&](int j, int i) { return s.weight(i, j); },
        [&](int i, int d) { return s.grad_out(i, d); }, [&](int j, int d, T x) { sum.value(j, d) += x; });
    product<T>(
        team, tile_cols, padded(p.head_dim), tile_rows, [&](int j, int i) { return s.grad_logit(i, j); },
        [&](int i, int d) { return s.query(i, d); }, [&](int j, int d, T x) { sum.key(j, d) += x; });
  }

  template <class Team>
  KOKKOS_FUNCTION void store(Team const& team, Panel<T> from, Rows<T> const& to, int b, int kv_head, int col, int cols,
                             int dim) const {
    each(team, cols * dim, [&](int n) { to.at(b, kv_head, col + n / dim)[n % dim] = from(n / dim, n % dim); });
  }
};

}  // namespace sextant::kernels::team
