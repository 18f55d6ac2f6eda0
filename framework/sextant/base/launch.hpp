// Loops over a handful of things: threads are woken only for work that outweighs waking them.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/small_work.hpp>

namespace sextant {

/// f(0), ..., f(n - 1), concurrently, each about `work` operations; all in the calling thread where that is little. The
/// f(i) must not depend on each other, so that both give the same bits. Runs on the host's cores whatever Exec is: for
/// bodies that no device takes.
template <class F>
void launch_on_host(Exec const& exec, char const* label, std::int64_t n, std::int64_t work, F const& f) {
  HostExec const host = host_side(exec);
  if (n == 1 || n * work <= small_work) {
    host.fence();  // nothing to wait for but on a host space that runs behind its caller
    for (std::int64_t i = 0; i < n; ++i) f(i);
    return;
  }
  Kokkos::parallel_for(label, Kokkos::RangePolicy<HostExec>(host, 0, n), f);
}

/// The same where the Views' work is done: on the device, if there is one.
template <class F>
void launch(Exec const& exec, char const* label, std::int64_t n, std::int64_t work, F const& f) {
  if constexpr (on_host)
    launch_on_host(exec, label, n, work, f);
  else
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n), f);
}

}  // namespace sextant
