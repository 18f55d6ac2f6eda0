// The one place that knows which Kokkos this is (3.4 to 5.x): spaces, View aliases, what moved between versions.
#pragma once
#include <Kokkos_Core.hpp>

#include <string>

namespace sextant {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

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

/// Memory that is about to be overwritten whole: skips the zero fill.
inline auto uninitialized(std::string const& label) { return Kokkos::view_alloc(Kokkos::WithoutInitializing, label); }

/// True when every kernel of the default execution space can read host pointers.
inline constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible &&
                                Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

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
