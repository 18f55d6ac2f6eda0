// Loops over a handful of things: threads are woken only for work that outweighs waking them.
#pragma once
#include <sextant/base/kokkos.hpp>

#include <cstdint>

namespace sextant {

/// Operations below which a host's threads are not worth their start and the wait for the last of them: a token decoded
/// alone has some 400 such loops, and on a machine with other work each wait can last a time slice of its scheduler.
inline constexpr std::int64_t small_work = 1 << 14;

/// f(0), ..., f(n - 1), concurrently, each about `work` operations; on a host all in the calling thread where that is
/// little. The f(i) must not depend on each other, so that both give the same bits.
template <class F>
void launch(Exec const& exec, char const* label, std::int64_t n, std::int64_t work, F const& f) {
  if constexpr (on_host) {
    if (n == 1 || n * work <= small_work) {
      exec.fence();  // nothing to wait for but on a host space that runs behind its caller
      for (std::int64_t i = 0; i < n; ++i) f(i);
      return;
    }
  }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n), f);
}

}  // namespace sextant
