// Small matrix products that live in registers: 6 rows by 2 vectors (4 with AVX-512's 32 registers) of sums, each step
// one outer product. The right operand is packed in panels, so that a step reads consecutive vectors. Operands are numbers
// of the sums' type T, or pairs of bf16 (X; simd_pairs.hpp): depth then counts pairs.
#pragma once
#include <sextant/kernels/simd_pairs.hpp>

#include <algorithm>
#include <cstddef>

namespace sextant::kernels::simd {

inline constexpr int block_rows = 6;
inline constexpr int block_vectors = bytes == 64 ? 4 : 2;
/// Columns of a panel.
template <class T>
inline constexpr int panel_width = block_vectors* width<T>;

/// Smallest multiple of `step` that is not below n.
constexpr int round_up(int n, int step) { return (n + step - 1) / step * step; }

/// f(V) with V = min(vectors, block_vectors) as a compile-time constant, vectors >= 1.
template <int V = block_vectors, class F>
SEXTANT_INLINE void with_vectors(int vectors, F&& f) {
  up_to<V>(vectors, f);
}

/// x[r][v] += sum over k < depth of a[r * row + k * step] * b[k * b_stride + v * width ...], in the order of k.
template <class T, int R, int V, class X>
SEXTANT_INLINE void block_sum(Vec<T> (&x)[R][V], X const* a, std::ptrdiff_t row, std::ptrdiff_t step, X const* b,
                              std::ptrdiff_t b_stride, int depth) {
  for (int k = 0; k < depth; ++k, a += step, b += b_stride) {
    Vec<X> right[V];
    unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { right[v] = load(b + v * width<T>); });
    unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
      Vec<X> const left = broadcast(a[r * row]);
      unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { add_product<T, X>(x[r][v], left, right[v]); });
    });
  }
}

/// finish(r, x[r]) for each r < R, x being that sum from zero.
template <class T, int R, int V, class X, class Finish>
SEXTANT_INLINE void block_product(X const* a, std::ptrdiff_t row, std::ptrdiff_t step, X const* b,
                                  std::ptrdiff_t b_stride, int depth, Finish&& finish) {
  Vec<T> x[R][V];
  unroll<R>([&](auto r)
                SEXTANT_INLINE_LAMBDA { unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { x[r][v] = Vec<T>{}; }); });
  block_sum<T, R, V>(x, a, row, step, b, b_stride, depth);
  unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA { finish(r, x[r]); });
}

/// c[r * c_stride + v * width ...] in registers and back; `add(x)` sums into them in between.
template <class T, int R, int V, class Add>
SEXTANT_INLINE void block_update(T* c, std::ptrdiff_t c_stride, Add&& add) {
  Vec<T> x[R][V];
  unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
    unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { x[r][v] = load(c + r * c_stride + v * width<T>); });
  });
  add(x);
  unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
    unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { store(c + r * c_stride + v * width<T>, x[r][v]); });
  });
}

/// c += the same sum.
template <class T, int R, int V, class X>
SEXTANT_INLINE void block_add(X const* a, std::ptrdiff_t row, std::ptrdiff_t step, X const* b, std::ptrdiff_t b_stride,
                              int depth, T* c, std::ptrdiff_t c_stride) {
  block_update<T, R, V>(
      c, c_stride, [&](auto& x) SEXTANT_INLINE_LAMBDA { block_sum<T, R, V>(x, a, row, step, b, b_stride, depth); });
}

/// Rows of `from` become columns: to[panel][operands(depth)][panel_width] for the columns [0, columns), a multiple of the
/// width; columns past `rows`, and those of rows whose id is negative (`ids` may be null), are zero.
template <class T, class X>
void pack_transposed(T const* from, std::ptrdiff_t stride, int rows, int columns, int depth, int const* ids, X* to) {
  constexpr int W = width<T>, P = panel_width<T>;
  int const deep = operands<X>(depth);
  for (int j = 0; j < columns; j += W) {
    X* const panel = to + static_cast<std::ptrdiff_t>(j / P) * deep * P + j % P;
    for (int d = 0; d < deep; d += W) {
      Vec<X> x[W];
      unroll<W>([&](auto i) SEXTANT_INLINE_LAMBDA {
        bool const used = j + i < rows && (!ids || ids[j + i] >= 0);
        x[i] = used ? load_along<X>(from + (j + i) * stride + d * terms<X>, depth - d * terms<X>) : Vec<X>{};
      });
      transpose<X>(x);
      unroll<W>([&](auto i) SEXTANT_INLINE_LAMBDA {
        if (d + i < deep) store(panel + (d + i) * P, x[i]);
      });
    }
  }
}

/// Rows stay rows: panel p holds the columns [p * panel_width, ...) of `capacity` rows, each row as wide as the panel
/// (the last one is cut to whole vectors); pairs are of neighbouring rows. Zero past `rows` and `columns` and in rows whose
/// id is negative.
template <class T, class X>
void pack_rows(T const* from, std::ptrdiff_t stride, int rows, int capacity, int columns, int const* ids, X* to) {
  constexpr int W = width<T>, P = panel_width<T>;
  for (int d0 = 0; d0 < columns; d0 += P) {
    int const wide = std::min(P, round_up(columns - d0, W));
    X* const panel = to + static_cast<std::ptrdiff_t>(d0) * operands<X>(capacity);
    for (int j = 0; j < capacity; j += terms<X>) {
      auto const part = [&](int i, int d) SEXTANT_INLINE_LAMBDA {
        bool const used = i < rows && (!ids || ids[i] >= 0);
        return used ? load_part(from + i * stride + d0 + d, columns - d0 - d) : Vec<T>{};
      };
      for (int d = 0; d < wide; d += W)
        if constexpr (terms<X> == 1)
          store(panel + j * wide + d, part(j, d));
        else
          store(panel + j / 2 * wide + d, pairs_across(part(j, d), part(j + 1, d)));
    }
  }
}

}  // namespace sextant::kernels::simd
