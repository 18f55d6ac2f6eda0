#include <sextant/kernels/matmul_blocks.hpp>
#include <sextant/kernels/matmul_team.hpp>
#include <sextant/kernels/team_tile.hpp>

namespace sextant::kernels::team {
namespace {
constexpr int run = 32;  // terms of a panel

template <class T>
KOKKOS_INLINE_FUNCTION T number(T x, bool rounded) {
  if constexpr (std::is_same_v<T, float>)
    if (rounded) return round_to_bf16(x);
  return x;
}
KOKKOS_INLINE_FUNCTION float number(BFloat16 x, bool) { return to_float(x); }

/// op(x), entry by entry.
template <class X>
struct Operand {
  X const* data;
  std::int64_t stride;
  bool transposed;
  KOKKOS_FUNCTION X at(int i, int j) const { return transposed ? data[j * stride + i] : data[i * stride + j]; }
};
template <class X>
Operand<X> operand(Matrix<X const> const& x, Op op) {
  return {x.data(), static_cast<std::int64_t>(x.stride(0)), op == Op::transposed};
}

/// A team owns a tile of c.
template <class T, class B, int tile>
struct Product {
  Operand<T> a;
  Operand<B> b;
  T* c;
  std::int64_t stride;
  int rows, cols, terms;
  bool add, rounded;

  std::int64_t teams() const { return std::int64_t(blocks_of(rows, tile)) * blocks_of(cols, tile); }
  std::size_t bytes() const {
    Cursor memory;
    Scratch{memory};
    return memory.used();
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, Cursor memory) const {
    Scratch const s(memory);
    int const across = blocks_of(cols, tile), rank = team.league_rank();
    int const row = rank / across * tile, col = rank % across * tile;
    clear(team, s.sum, tile);
    for (int k = 0; k < terms; k += run) {
      team.team_barrier();  // the panels before are done with
      fill(team, a, row, rest(rows, row, tile), k, rest(terms, k, run), tile, run, s.left);
      fill(team, b, k, rest(terms, k, run), col, rest(cols, col, tile), run, tile, s.right);
      team.team_barrier();
      product<T>(
          team, tile, tile, run, [&](int i, int p) { return s.left(i, p); },
          [&](int p, int j) { return s.right(p, j); }, [&](int i, int j, T x) { s.sum(i, j) += x; });
    }
    team.team_barrier();
    int const wide = rest(cols, col, tile);
    each(team, rest(rows, row, tile) * wide, [&](int n) {
      int const i = n / wide, j = n % wide;
      T& to = c[(row + i) * stride + col + j];
      to = add ? to + s.sum(i, j) : s.sum(i, j);
    });
  }

 private:
  struct Scratch {
    Panel<T> left, right, sum;
    KOKKOS_FUNCTION explicit Scratch(Cursor& memory)
        : left(Panel<T>::take(memory, tile, run)),
          right(Panel<T>::take(memory, run, tile)),
          sum(Panel<T>::take(memory, tile, tile)) {}
  };

  /// Entries [down, across] of an operand from (row, col) on, and zeros up to [high, wide]. Neighbouring threads read
  /// neighbouring numbers.
  template <class Team, class X>
  KOKKOS_FUNCTION void fill(Team const& team, Operand<X> const& from, int row, int down, int col, int across, int high,
                            int wide, Panel<T> to) const {
    each(team, high * wide, [&](int n) {
      int const i = from.transposed ? n % high : n / wide, j = from.transposed ? n / high : n % wide;
      to(i, j) = i < down && j < across ? number(from.at(row + i, col + j), rounded) : T(0);
    });
  }
};

template <int tile, class T, class B>
void launch(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<B const> const& b, Op op_b, Matrix<T> const& c,
            blocks::Size n, Into into, Precision precision, int team_size) {
  Product<T, B, tile> const work{operand(a, op_a),
                                 operand(b, op_b),
                                 c.data(),
                                 static_cast<std::int64_t>(c.stride(0)),
                                 n.rows,
                                 n.cols,
                                 n.terms,
                                 into == Into::add,
                                 precision == Precision::bf16};
  launch_teams(exec, "sextant::team_matmul", work.teams(), team_size, work.bytes(), work);
}
}  // namespace

template <class T, class B>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<B const> const& b, Op op_b, Matrix<T> const& c,
            Into into, Precision precision, int team_size) {
  blocks::Size const n = blocks::checked(a, op_a, b, op_b, c);
  if (n.rows == 0 || n.cols == 0) return;
  // Small tiles where large ones would be too few to share out, as for a weight's gradient. Either gives the same bits.
  constexpr std::int64_t large = 64, small = 32, few = 256;
  if (std::int64_t(n.rows) * n.cols >= few * large * large)
    launch<large>(exec, a, op_a, b, op_b, c, n, into, precision, team_size);
  else
    launch<small>(exec, a, op_a, b, op_b, c, n, into, precision, team_size);
}

#define SEXTANT_INSTANTIATE(T, B)                                                                                   \
  template void matmul(Exec const&, Matrix<T const> const&, Op, Matrix<B const> const&, Op, Matrix<T> const&, Into, \
                       Precision, int);
SEXTANT_INSTANTIATE(float, float)
SEXTANT_INSTANTIATE(float, BFloat16)
SEXTANT_INSTANTIATE(double, double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels::team
