// Vectors as wide as the machine this is compiled for (64, 32 or 16 bytes), by the compilers' vector extensions: one
// source for AVX-512, AVX2 and plain x86-64, and no intrinsics.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define SEXTANT_INLINE inline __attribute__((always_inline))
#define SEXTANT_INLINE_LAMBDA __attribute__((always_inline))

namespace sextant::kernels::simd {

#if defined(__AVX512F__)
inline constexpr int bytes = 64;
#elif defined(__AVX__)
inline constexpr int bytes = 32;
#else
inline constexpr int bytes = 16;
#endif

/// Elements of a vector.
template <class T>
inline constexpr int width = bytes / static_cast<int>(sizeof(T));

template <class T>
struct VectorOf {
  using Integer = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;  // its sums may wrap
  typedef T Type __attribute__((vector_size(bytes)));
  typedef T Loose __attribute__((vector_size(bytes), aligned(alignof(T))));
  typedef Integer Bits __attribute__((vector_size(bytes)));
};
template <class T>
using Vec = typename VectorOf<T>::Type;

template <class T>
SEXTANT_INLINE Vec<T> load(T const* from) {
  return *reinterpret_cast<typename VectorOf<T>::Loose const*>(from);
}
template <class T>
SEXTANT_INLINE void store(T* to, Vec<T> x) {
  *reinterpret_cast<typename VectorOf<T>::Loose*>(to) = x;
}
template <class T>
SEXTANT_INLINE Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}
/// The first n elements, zeros behind them; reads no further.
template <class T>
SEXTANT_INLINE Vec<T> load_part(T const* from, int n) {
  if (n >= width<T>) return load(from);
  Vec<T> x{};
  std::memcpy(&x, from, sizeof(T) * static_cast<std::size_t>(n > 0 ? n : 0));
  return x;
}
template <class V>
SEXTANT_INLINE V max(V a, V b) {
  return a > b ? a : b;
}

/// f(0), f(1), ... f(N - 1) with each argument a compile-time constant.
template <int N, class F>
SEXTANT_INLINE void unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) SEXTANT_INLINE_LAMBDA { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// f(n) with n = min(count, N) as a compile-time constant, count >= 1.
template <int N, class F>
SEXTANT_INLINE void up_to(int count, F&& f) {
  if constexpr (N == 1)
    f(std::integral_constant<int, 1>{});
  else if (count >= N)
    f(std::integral_constant<int, N>{});
  else
    up_to<N - 1>(count, f);
}

namespace detail {
template <int... L>
using Lanes = std::integer_sequence<int, L...>;

/// The lanes of a and b that L names; b's are counted on from a's.
template <class V, int... L>
SEXTANT_INLINE V shuffled(V a, V b, Lanes<L...>) {
#if defined(__CUDACC__)  // nvcc spoils a pack among that function's arguments, and its host compiler here is GCC
  using T = std::decay_t<decltype(a[0])>;
  return __builtin_shuffle(a, b, typename VectorOf<T>::Bits{L...});
#else
  return __builtin_shufflevector(a, b, L...);
#endif
}
template <int S, class V, int... I>
SEXTANT_INLINE V exchange(V a, Lanes<I...>) {  // lane i takes lane i ^ S
  return shuffled(a, a, Lanes<(I ^ S)...>{});
}
// Lanes with bit S clear stay a's and the others take b's lane i ^ S; the mirror image when High.
template <int S, bool High, int W, class V, int... I>
SEXTANT_INLINE V interleave(V a, V b, Lanes<I...>) {
  if constexpr (High)
    return shuffled(a, b, Lanes<((I & S) ? W + I : (I ^ S))...>{});
  else
    return shuffled(a, b, Lanes<((I & S) ? W + (I ^ S) : I)...>{});
}
template <class T, int S>
SEXTANT_INLINE void transpose_stage(Vec<T> (&x)[width<T>]) {
  constexpr int W = width<T>;
  unroll<W>([&](auto i) SEXTANT_INLINE_LAMBDA {
    if constexpr ((i & S) == 0) {
      Vec<T> const a = x[i], b = x[i + S];
      x[i] = interleave<S, false, W>(a, b, std::make_integer_sequence<int, W>{});
      x[i + S] = interleave<S, true, W>(a, b, std::make_integer_sequence<int, W>{});
    }
  });
}
template <class T, int S, class Join>
SEXTANT_INLINE T fold(Vec<T> a, Join join) {
  constexpr int W = width<T>;
  if constexpr (S == 0)
    return a[0];
  else
    return fold<T, S / 2>(join(a, exchange<S>(a, std::make_integer_sequence<int, W>{})), join);
}
}  // namespace detail

/// Sum of the lanes, halves first: the same order on every call.
template <class T>
SEXTANT_INLINE T sum(Vec<T> a) {
  return detail::fold<T, width<T> / 2>(a, [](auto x, auto y) SEXTANT_INLINE_LAMBDA { return x + y; });
}
template <class T>
SEXTANT_INLINE T largest(Vec<T> a) {
  return detail::fold<T, width<T> / 2>(a, [](auto x, auto y) SEXTANT_INLINE_LAMBDA { return max(x, y); });
}

/// x[i] lane j <-> x[j] lane i.
template <class T>
SEXTANT_INLINE void transpose(Vec<T> (&x)[width<T>]) {
  if constexpr (width < T >> 1) detail::transpose_stage<T, 1>(x);
  if constexpr (width < T >> 2) detail::transpose_stage<T, 2>(x);
  if constexpr (width < T >> 4) detail::transpose_stage<T, 4>(x);
  if constexpr (width < T >> 8) detail::transpose_stage<T, 8>(x);
}

/// The even lanes of the two vectors in a, the odd ones in b; join_pairs undoes it.
template <class T>
SEXTANT_INLINE void split_pairs(Vec<T>& a, Vec<T>& b) {
  [&]<int... I>(detail::Lanes<I...>) SEXTANT_INLINE_LAMBDA {
    Vec<T> const even = detail::shuffled(a, b, detail::Lanes<(2 * I)...>{});
    b = detail::shuffled(a, b, detail::Lanes<(2 * I + 1)...>{});
    a = even;
  }
  (std::make_integer_sequence<int, width<T>>{});
}
template <class T>
SEXTANT_INLINE void join_pairs(Vec<T>& a, Vec<T>& b) {
  constexpr int W = width<T>;
  [&]<int... I>(detail::Lanes<I...>) SEXTANT_INLINE_LAMBDA {
    Vec<T> const low = detail::shuffled(a, b, detail::Lanes<(I % 2 * W + I / 2)...>{});
    b = detail::shuffled(a, b, detail::Lanes<(I % 2 * W + W / 2 + I / 2)...>{});
    a = low;
  }
  (std::make_integer_sequence<int, W>{});
}

/// Lane i holds the sum of the lanes of x[i].
template <class T>
SEXTANT_INLINE Vec<T> sums(Vec<T> (&x)[width<T>]) {
  constexpr int W = width<T>;
  constexpr int stages = W == 2 ? 1 : W == 4 ? 2 : W == 8 ? 3 : 4;
  unroll<stages>([&](auto stage) SEXTANT_INLINE_LAMBDA {
    constexpr int S = 1 << stage;
    unroll<W / (2 * S)>([&](auto k) SEXTANT_INLINE_LAMBDA {
      constexpr int i = k * 2 * S;
      Vec<T> const a = x[i], b = x[i + S];
      x[i] = detail::interleave<S, false, W>(a, b, std::make_integer_sequence<int, W>{}) +
             detail::interleave<S, true, W>(a, b, std::make_integer_sequence<int, W>{});
    });
  });
  return x[0];
}

inline constexpr double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453;

/// 2^x for x < 128 (float) or 1024 (double). Exactly 1 at 0; exactly 0 below -126 (-1022) and at -infinity; NaN stays
/// NaN. Largest relative error 2.5e-7 in float, 5e-16 in double.
template <class T>
SEXTANT_INLINE Vec<T> exp2(Vec<T> x) {
  using Bits = typename VectorOf<T>::Bits;
  constexpr bool single = sizeof(T) == 4;
  constexpr T magic = single ? T(12582912.0) : T(6755399441055744.0);  // 1.5 * 2^23, 2^52: adding it rounds
  Vec<T> const shifted = x + magic;
  Vec<T> const f = x - (shifted - magic);  // in [-1/2, 1/2]
  Vec<T> p;
  if constexpr (single) {  // minimax
    p = broadcast<T>(0.0013276466634124517f);
    p = p * f + 0.009675540961325169f;
    p = p * f + 0.05550713464617729f;
    p = p * f + 0.24022120237350464f;
    p = p * f + 0.6931469440460205f;
    p = p * f + 1.0f;
  } else {  // ln(2)^k / k!: the first term left out is below 2e-16
    constexpr double c[] = {2.5678435993488196e-11, 4.4455382718708101e-10, 7.0549116208011218e-09,
                            1.0178086009239696e-07, 1.3215486790144305e-06, 1.5252733804059838e-05,
                            1.5403530393381606e-04, 1.3333558146428441e-03, 9.6181291076284769e-03,
                            5.5504108664821576e-02, 2.4022650695910069e-01, 6.9314718055994529e-01};
    p = broadcast<T>(c[0]);
    unroll<11>([&](auto k) SEXTANT_INLINE_LAMBDA { p = p * f + c[k + 1]; });
    p = p * f + 1.0;
  }
  Bits const exponent = reinterpret_cast<Bits>(shifted) << (single ? 23 : 52);  // the low bits hold the integer
  Vec<T> const y = reinterpret_cast<Vec<T>>(reinterpret_cast<Bits>(p) + exponent);
  return x < T(single ? -126.0 : -1022.0) ? Vec<T>{} : y;
}

}  // namespace sextant::kernels::simd
