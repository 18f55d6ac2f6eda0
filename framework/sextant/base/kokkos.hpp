// The one place that knows which Kokkos this is (3.4 to 5.x): spaces, View aliases, what moved between versions.
#pragma once
#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace sextant {

using Exec = Kokkos::DefaultExecutionSpace;
/// Runs what no device takes: virtual calls, vectors of the CPU, oneDNN.
using HostExec = Kokkos::DefaultHostExecutionSpace;

/// True when the default execution space is the host's.
inline constexpr bool on_host = std::is_same_v<Exec, HostExec>;

#if KOKKOS_VERSION >= 40000 && defined(KOKKOS_HAS_SHARED_SPACE)
using Shared = Kokkos::SharedSpace;
#else
using Shared = Exec::memory_space;
#endif
/// What Views lie in. Beside a device it is memory that both sides reach, so that host-only code works on the same Views.
using Memory = std::conditional_t<on_host, Exec::memory_space, Shared>;
static_assert(Kokkos::SpaceAccessibility<HostExec, Memory>::accessible,
              "host-only kernels need memory that host and device share: Kokkos 4.0 or newer with CUDA, HIP or SYCL");

/// Where host-only code of a call on `exec` runs: `exec` itself, or the host's cores once the device has done its part.
template <class Space>
HostExec host_side(Space const& exec) {
  if constexpr (std::is_same_v<Space, HostExec>) {
    return exec;
  } else {
    exec.fence();
    return HostExec();
  }
}

/// Row-major arrays; the suffix is the rank.
template <class T>
using View1 = Kokkos::View<T*, Kokkos::LayoutRight, Memory>;
template <class T>
using View2 = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
template <class T>
using View3 = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;
template <class T>
using View4 = Kokkos::View<T****, Kokkos::LayoutRight, Memory>;

/// [batch, heads, seq_len, head_dim] by logical index, whatever the order in memory; the last axis is contiguous.
/// A projection's output [batch * seq_len, heads * head_dim] is seen through it without a copy.
template <class T>
using Heads = Kokkos::View<T****, Kokkos::LayoutStride, Memory>;

/// Numbers that the host fills and a device may read.
#if KOKKOS_VERSION >= 40000
template <class T>
struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <class S>
  SharedAllocator(SharedAllocator<S> const&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(Kokkos::kokkos_malloc<Memory>(count * sizeof(T))); }
  void deallocate(T* data, std::size_t) { Kokkos::kokkos_free<Memory>(data); }
  bool operator==(SharedAllocator const&) const { return true; }
};
template <class T>
using SharedVector = std::conditional_t<on_host, std::vector<T>, std::vector<T, SharedAllocator<T>>>;
#else
template <class T>
using SharedVector = std::vector<T>;
#endif

/// Memory that is about to be overwritten whole: skips the zero fill.
inline auto uninitialized(std::string const& label) { return Kokkos::view_alloc(Kokkos::WithoutInitializing, label); }

/// Threads of the default execution space.
inline int concurrency() { return Exec().concurrency(); }

/// Sees contiguous [batch * seq_len, heads * head_dim] memory as [batch, heads, seq_len, head_dim].
template <class T>
Heads<T> as_heads(T* data, int batch, int heads, int seq_len, int head_dim, std::size_t row_stride) {
  return Heads<T>(data,
                  Kokkos::LayoutStride(batch, row_stride * seq_len, heads, head_dim, seq_len, row_stride, head_dim, 1));
}
template <class T>
Heads<T> as_heads(T* data, int batch, int heads, int seq_len, int head_dim) {
  return as_heads(data, batch, heads, seq_len, head_dim, static_cast<std::size_t>(heads) * head_dim);
}

#if KOKKOS_VERSION < 30700
using KokkosSettings = Kokkos::InitArguments;
inline KokkosSettings kokkos_settings(int threads) { return KokkosSettings(threads); }
#else
using KokkosSettings = Kokkos::InitializationSettings;
inline KokkosSettings kokkos_settings(int threads) {
  KokkosSettings settings;
  if (threads > 0) settings.set_num_threads(threads);
  return settings;
}
#endif

}  // namespace sextant
