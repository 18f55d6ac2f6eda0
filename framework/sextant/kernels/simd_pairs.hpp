// What a product of simd_block.hpp takes: the numbers of its sums, or pairs of bf16, which AVX512_BF16 multiplies exactly and
// adds to a float, two products a lane and instruction. A build for another processor has no arithmetic for pairs:
// `has_pairs` is false and nothing here that forms or multiplies them may be used.
#pragma once
#include <sextant/kernels/simd.hpp>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace sextant::kernels::simd {

/// Two bf16 numbers that stand behind one another along the depth of a product, the earlier in the lower half.
using Pair = std::uint32_t;

/// Numbers that an operand holds.
template <class X>
inline constexpr int terms = std::is_same_v<X, Pair> ? 2 : 1;
/// Operands that hold `count` numbers.
template <class X>
constexpr int operands(int count) {
  return (count + terms<X> - 1) / terms<X>;
}

#if defined(__AVX512BF16__)
inline constexpr bool has_pairs = true;

/// sum + the two products of each lane. Subnormal numbers count as zero.
SEXTANT_INLINE Vec<float> add_products(Vec<float> sum, Vec<Pair> a, Vec<Pair> b) {
  return (Vec<float>)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}
/// Lane i: numbers 2 i and 2 i + 1 of the two vectors in a row, rounded to nearest, ties to even.
SEXTANT_INLINE Vec<Pair> pairs_along(Vec<float> first, Vec<float> second) {
  return (Vec<Pair>)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}
/// Lane i: the numbers that the two vectors hold in lane i, rounded alike.
SEXTANT_INLINE Vec<Pair> pairs_across(Vec<float> first, Vec<float> second) {
  constexpr auto order = []<short... I>(std::integer_sequence<short, I...>) {
    typedef short Order __attribute__((vector_size(bytes)));
    return Order{(I % 2 * 16 + I / 2)...};
  }
  (std::make_integer_sequence<short, 32>{});
  return (Vec<Pair>)_mm512_permutexvar_epi16((__m512i)order, (__m512i)pairs_along(first, second));
}
#else
inline constexpr bool has_pairs = false;
Vec<float> add_products(Vec<float> sum, Vec<Pair> a, Vec<Pair> b);
Vec<Pair> pairs_along(Vec<float> first, Vec<float> second);
Vec<Pair> pairs_across(Vec<float> first, Vec<float> second);
#endif

/// sum += a b, lane by lane.
template <class T, class X>
SEXTANT_INLINE void add_product(Vec<T>& sum, Vec<X> a, Vec<X> b) {
  if constexpr (std::is_same_v<T, X>)
    sum += a * b;
  else
    sum = add_products(sum, a, b);
}

/// The first n numbers of a row as a vector of operands, zeros behind them; reads no further.
template <class X, class T>
SEXTANT_INLINE Vec<X> load_along(T const* from, int n) {
  if constexpr (std::is_same_v<T, X>)
    return load_part(from, n);
  else
    return pairs_along(load_part(from, n), load_part(from + width<T>, n - width<T>));
}

/// to[operands(n)] = n numbers of a row, in whole vectors.
template <class X, class T>
SEXTANT_INLINE void store_along(X* to, T const* from, int n) {
  for (int d = 0; d < n; d += terms<X> * width<T>) store(to + d / terms<X>, load_along<X>(from + d, n - d));
}

}  // namespace sextant::kernels::simd
