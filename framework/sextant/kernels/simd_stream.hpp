// Stores past the cache: a line that is written whole need not be read first, and nothing that is in use gives way to it. For
// arrays that no cache would hold until they are read.
#pragma once
#include <sextant/kernels/simd.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sextant::kernels::simd {

/// store() past the cache, where the compiler and the CPU have it. `to` is a multiple of `bytes`.
template <class T>
SEXTANT_INLINE void stream(T* to, Vec<T> x) {
#if defined(__clang__)
  __builtin_nontemporal_store(x, reinterpret_cast<Vec<T>*>(to));
#elif defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(x));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(x));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(x));
#else
  store(to, x);
#endif
}

/// Orders what this thread streamed before what it writes next: to be called before another thread may read it.
SEXTANT_INLINE void end_stream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace sextant::kernels::simd
