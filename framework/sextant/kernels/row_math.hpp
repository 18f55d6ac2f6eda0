// Loops over one row that vectorise without -ffast-math: sums in a fixed number of lanes, and an exponential without
// branches. The order of every sum is a function of the row's length alone.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/blocks_of.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sextant::kernels {

/// Rows that one task of a token-wise kernel owns. A constant of the arithmetic, not of the machine: partial sums are
/// formed per block and added in order, so it decides which bits come out.
inline constexpr int block_rows = 64;

/// f(0) + ... + f(n - 1), as 16 interleaved partial sums that are folded in halves.
template <class T, class F>
KOKKOS_INLINE_FUNCTION T row_sum(int n, F const& f) {
  constexpr int lanes = 16;
  T part[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) part[lane] += f(i + lane);
  for (int lane = 0; i + lane < n; ++lane) part[lane] += f(i + lane);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) part[lane] += part[lane + half];
  return part[0];
}

/// The largest of row[0 .. n). n >= 1; a NaN may be passed over.
template <class T>
KOKKOS_INLINE_FUNCTION T row_max(int n, T const* row) {
  T largest = row[0];
#pragma omp simd reduction(max : largest)
  for (int i = 1; i < n; ++i) largest = largest < row[i] ? row[i] : largest;
  return largest;
}

/// e^x within 2 ulp; a float below -87 gives e^-87 and one above 88 gives e^88, so nothing overflows on the way.
KOKKOS_INLINE_FUNCTION float row_exp(float x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return ::expf(x);
#else
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  float const shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the low bits now hold round(x / ln 2)
  float const n = shifted - 12582912.0f;
  float const r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;  // Cephes, expf.c
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  std::uint32_t const exponent = std::bit_cast<std::uint32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + exponent);
#endif
}
KOKKOS_INLINE_FUNCTION double row_exp(double x) { return ::exp(x); }

/// 1 / (1 + e^-x)
template <class T>
KOKKOS_INLINE_FUNCTION T sigmoid(T x) {
  return T(1) / (T(1) + row_exp(-x));
}

}  // namespace sextant::kernels
