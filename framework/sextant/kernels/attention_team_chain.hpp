// What changes the logits of a team's tile. A chain is a trivially copyable struct with
//   visible(batch, row, rows, col, cols)        false: every pair of the tile is hidden
//   forward(team, tile)                         adds to tile.logit
//   backward(team, tile, grad, stride)          as TileModifier's; all threads of the team call both
//   accumulates()                               backward() must see the tiles of a head in order, from one team
#pragma once
#include <sextant/kernels/attention_team.hpp>
#include <sextant/kernels/attention_team_tile.hpp>

namespace sextant::kernels::team {

/// Biases of the offset alone, each looked up in its table.
template <class T>
struct TableChain {
  OffsetTable<T> table[most_tables];
  int count = 0;

  KOKKOS_FUNCTION bool visible(int, int, int, int, int) const { return true; }
  KOKKOS_FUNCTION bool accumulates() const {
    for (int n = 0; n < count; ++n)
      if (table[n].grad) return true;
    return false;
  }

  template <class Team>
  KOKKOS_FUNCTION void forward(Team const& team, Tile<T> const& tile) const {
    for (int n = 0; n < count; ++n) {
      OffsetTable<T> const& t = table[n];
      if (!t.covers(tile.head)) continue;
      T const* const bias = t.of_head(tile.head);
      each(team, tile.rows * tile.cols, [&](int k) {
        int const r = k / tile.cols, c = k % tile.cols;
        tile.logit[r * tile.stride + c] += bias[t.at(tile.query_position[r], tile.key_position[c])];
      });
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void backward(Team const& team, Tile<T> const& tile, T const* grad, int stride) const {
    bool const run = is_run(tile.query_position, tile.rows) && is_run(tile.key_position, tile.cols);
    for (int n = 0; n < count; ++n) {
      OffsetTable<T> const& t = table[n];
      if (!t.grad || !t.covers(tile.head)) continue;
      T* const to = t.grad + (std::int64_t(tile.batch) * t.heads + tile.head - t.head_begin) * t.width;
      auto const add = [&](int r, int c) {
        to[t.at(tile.query_position[r], tile.key_position[c])] += grad[r * stride + c];
      };
      if (run) {  // a diagonal is one offset, and no two diagonals share theirs
        each(team, tile.rows + tile.cols - 1, [&](int k) {
          for (int r = 0; r < tile.rows; ++r)
            if (int const c = k - (tile.rows - 1) + r; c >= 0 && c < tile.cols) add(r, c);
        });
      } else {
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          for (int r = 0; r < tile.rows; ++r)
            for (int c = 0; c < tile.cols; ++c) add(r, c);
        });
      }
      team.team_barrier();
    }
  }
};

/// The virtual chain of the host kernel, one thread of a team at a time: for host spaces.
template <class T>
struct VirtualChain {
  TileModifier<T>* const* link;
  int count;

  bool visible(int b, int row, int rows, int col, int cols) const {
    for (int n = 0; n < count; ++n)
      if (link[n]->visible(b, row, rows, col, cols) == Visible::none) return false;
    return true;
  }
  bool accumulates() const { return count > 0; }
  template <class Team>
  void forward(Team const& team, Tile<T> const& tile) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int n = 0; n < count; ++n) link[n]->forward(tile);
    });
  }
  template <class Team>
  void backward(Team const& team, Tile<T> const& tile, T const* grad, int stride) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int n = 0; n < count; ++n) link[n]->backward(tile, grad, stride);
    });
    team.team_barrier();
  }
};

}  // namespace sextant::kernels::team
