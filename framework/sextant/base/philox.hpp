// Counter-based random numbers: the k-th number of a stream is a pure function of (seed, stream, k), so there is no
// state to save, to lose or to share between threads.
//
// Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox4x32-10).
#pragma once
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace sextant {

/// Four 32-bit words for one 128-bit counter under one 64-bit key.
struct Philox4 {
  std::uint32_t word[4];
};

KOKKOS_INLINE_FUNCTION Philox4 philox4x32(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t c0 = static_cast<std::uint32_t>(counter_low), c1 = static_cast<std::uint32_t>(counter_low >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(counter_high), c3 = static_cast<std::uint32_t>(counter_high >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
    std::uint32_t const n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    std::uint32_t const n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// One named stream of a seed, e.g. Stream(seed, "init/layers.0.query"). Copy it freely; it holds no state.
class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name) : key_(mix(seed ^ 0x5851F42D4C957F2Dull * hash(name))) {}

  /// Word `index` of the stream, uniform over 32 bits. `step` selects an independent run of 2^66 words.
  KOKKOS_FUNCTION std::uint32_t bits(std::uint64_t index, std::uint64_t step = 0) const {
    return philox4x32(key_, index / 4, step).word[index % 4];
  }
  /// Uniform in [0, 1), 53 bits; consumes words 2 index and 2 index + 1.
  KOKKOS_FUNCTION double uniform(std::uint64_t index, std::uint64_t step = 0) const {
    Philox4 const r = philox4x32(key_, index / 2, step);
    int const at = static_cast<int>(index % 2) * 2;
    std::uint64_t const word = (static_cast<std::uint64_t>(r.word[at]) << 32) | r.word[at + 1];
    return static_cast<double>(word >> 11) * 0x1.0p-53;
  }
  /// Standard normal (Box-Muller, cosine branch); normals and uniforms of one stream share words, so use one kind.
  KOKKOS_FUNCTION double normal(std::uint64_t index, std::uint64_t step = 0) const {
    double const u = 1.0 - uniform(2 * index, step), v = uniform(2 * index + 1, step);
    return root(-2.0 * logarithm(u)) * cosine(6.283185307179586 * v);
  }
  /// Uniform integer in [0, n), n >= 1, without bias beyond 2^-53 n.
  KOKKOS_FUNCTION std::int64_t below(std::int64_t n, std::uint64_t index, std::uint64_t step = 0) const {
    std::int64_t const k = static_cast<std::int64_t>(uniform(index, step) * static_cast<double>(n));
    return k < n ? k : n - 1;
  }

 private:
  KOKKOS_FUNCTION static double root(double x) { return ::sqrt(x); }
  KOKKOS_FUNCTION static double logarithm(double x) { return ::log(x); }
  KOKKOS_FUNCTION static double cosine(double x) { return ::cos(x); }
  static std::uint64_t hash(std::string_view name) {  // FNV-1a
    std::uint64_t h = 0xCBF29CE484222325ull;
    for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
    return h;
  }
  static std::uint64_t mix(std::uint64_t z) {  // splitmix64's finaliser
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint64_t key_;
};

}  // namespace sextant
