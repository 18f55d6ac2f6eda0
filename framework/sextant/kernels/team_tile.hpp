// Teams of threads that work on tiles in their scratch memory, on any execution space: panels, products, the launch.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/blocks_of.hpp>
#include <sextant/kernels/cursor.hpp>

namespace sextant::kernels::team {
using host::Cursor;

inline constexpr int step = 4;  ///< rows and columns of sums that a thread keeps in registers

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

/// What of `length` the block of `tile` that begins at `begin` holds: the last may be short.
KOKKOS_INLINE_FUNCTION int rest(int length, int begin, int tile) {
  return length - begin < tile ? length - begin : tile;
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
