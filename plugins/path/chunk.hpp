// A chunk of PaTH's keys: the product of its maps H_n = I - beta_n w_n w_n^T in compact form, forwards and backwards.
//
//   H_0 H_1 .. H_{n-1} = I - W^T T W     T = (I + B S)^-1 B, B = diag(beta), S = strict upper triangle of W W^T
//   U = A T, A = strict upper triangle of K W^T
//   carried K' = K - U W                 row j is H_{n-1} .. H_{j+1} k_j
//   left V = T^T W                       a row x that passes the chunk becomes x - (x W^T) V
//
// T is upper triangular, and the principal block of it that belongs to some of the maps is the T of those alone.
#pragma once
#include <sextant/kernels/small_matmul.hpp>

#include <algorithm>
#include <cstddef>

namespace sextant::plugins::path {
using kernels::small_nn;
using kernels::small_nt;
using kernels::small_tn;

/// Keys of a chunk; the first of each has an index that this divides.
inline constexpr int chunk_keys = 64;

/// The arrays of one chunk, or of their gradients, in one stretch of memory.
template <class T>
struct Chunk {
  int keys, width;
  T *key, *w, *carried, *left;  ///< [keys, width]
  T *triangle, *upper;          ///< T and U, [keys, chunk_keys]
  T* beta;                      ///< [keys]

  static std::size_t size(int width) { return static_cast<std::size_t>(chunk_keys) * (4 * width + 2 * chunk_keys + 1); }
  Chunk(T* base, int keys_, int width_) : keys(keys_), width(width_) {
    std::size_t const rows = static_cast<std::size_t>(chunk_keys) * width, square = chunk_keys * chunk_keys;
    key = base, w = key + rows, carried = w + rows, left = carried + rows;
    triangle = left + rows, upper = triangle + square, beta = upper + square;
  }
};

/// [chunk_keys, chunk_keys] of scratch.
template <class T>
struct Square {
  T at[chunk_keys * chunk_keys];
  T* row(int r) { return at + r * chunk_keys; }
  operator T*() { return at; }
  /// Leaves entries (r, c) with c >= r + from, and 0 elsewhere.
  void keep_upper(int n, int from) {
    for (int r = 0; r < n; ++r) std::fill(row(r), row(r) + std::min(n, r + from), T(0));
  }
};

/// The strict upper triangle of a w^T.
template <class T>
void products_with_later(Chunk<T> const& c, T const* a, Square<T>& out) {
  small_nt(a, c.width, c.keys, c.w, c.width, c.keys, c.width, T(1), out.at, chunk_keys);
  out.keep_upper(c.keys, 1);
}

/// Fills triangle, upper, carried and left from key, w and beta. O(keys^2 width) time.
template <class T>
void build(Chunk<T> const& c) {
  int const n = c.keys, width = c.width;
  Square<T> products;
  products_with_later(c, c.w, products);
  for (int r = n - 1; r >= 0; --r) {  // T_r = beta_r (e_r - sum over k > r of S_rk T_k)
    T* row = c.triangle + r * chunk_keys;
    std::fill(row, row + n, T(0));
    for (int k = r + 1; k < n; ++k) {
      T const s = products.row(r)[k];
      T const* below = c.triangle + k * chunk_keys;
      for (int m = k; m < n; ++m) row[m] -= s * below[m];
    }
    row[r] = T(1);
    for (int m = r; m < n; ++m) row[m] *= c.beta[r];
  }
  products_with_later(c, c.key, products);
  small_nn(products.at, chunk_keys, n, c.triangle, chunk_keys, n, n, T(1), c.upper, chunk_keys);
  std::copy_n(c.key, static_cast<std::size_t>(n) * width, c.carried);
  small_nn(c.upper, chunk_keys, n, c.w, width, width, n, T(-1), c.carried, width, true);
  small_tn(c.triangle, chunk_keys, n, c.w, width, width, n, T(1), c.left, width);
}

/// T's part of push_back(): d loss / d T in `grad` (upper triangle), to w and beta.
template <class T>
void push_back_triangle(Chunk<T> const& c, Chunk<T> const& g, Square<T>& grad) {
  int const n = c.keys, width = c.width;
  Square<T> s, factor, turned;
  products_with_later(c, c.w, s);
  // d T = (I - T S) dB (I - S T) - T dS T
  auto const identity_less = [n](Square<T>& m) {
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < n; ++k) m.row(r)[k] = T(r == k) - m.row(r)[k];
  };
  small_nn(s.at, chunk_keys, n, c.triangle, chunk_keys, n, n, T(1), factor.at, chunk_keys);
  identity_less(factor);
  small_nt(grad.at, chunk_keys, n, factor.at, chunk_keys, n, n, T(1), turned.at, chunk_keys);
  small_nn(c.triangle, chunk_keys, n, s.at, chunk_keys, n, n, T(1), factor.at, chunk_keys);
  identity_less(factor);
  for (int r = 0; r < n; ++r)
    for (int k = 0; k < n; ++k) g.beta[k] += factor.row(r)[k] * turned.row(r)[k];
  small_nt(grad.at, chunk_keys, n, c.triangle, chunk_keys, n, n, T(1), turned.at, chunk_keys);
  small_tn(c.triangle, chunk_keys, n, turned.at, chunk_keys, n, n, T(-1), s.at, chunk_keys);
  s.keep_upper(n, 1);
  small_nn(s.at, chunk_keys, n, c.w, width, width, n, T(1), g.w, width, true);
  small_tn(s.at, chunk_keys, n, c.w, width, width, n, T(1), g.w, width, true);
}

/// Pushes the gradients that stand in g.carried, g.left and g.upper on to g.key, g.w and g.beta, by adding.
template <class T>
void push_back(Chunk<T> const& c, Chunk<T> const& g) {
  int const n = c.keys, width = c.width;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n) * width; ++i) g.key[i] += g.carried[i];
  small_nt(g.carried, width, n, c.w, width, n, width, T(-1), g.upper, chunk_keys, true);
  small_tn(c.upper, chunk_keys, n, g.carried, width, width, n, T(-1), g.w, width, true);

  Square<T> triangle, products;
  small_nt(c.w, width, n, g.left, width, n, width, T(1), triangle.at, chunk_keys);
  small_nn(c.triangle, chunk_keys, n, g.left, width, width, n, T(1), g.w, width, true);
  products_with_later(c, c.key, products);
  small_tn(products.at, chunk_keys, n, g.upper, chunk_keys, n, n, T(1), triangle.at, chunk_keys, true);
  triangle.keep_upper(n, 0);
  small_nt(g.upper, chunk_keys, n, c.triangle, chunk_keys, n, n, T(1), products.at, chunk_keys);
  products.keep_upper(n, 1);
  small_nn(products.at, chunk_keys, n, c.w, width, width, n, T(1), g.key, width, true);
  small_tn(products.at, chunk_keys, n, c.key, width, width, n, T(1), g.w, width, true);
  push_back_triangle(c, g, triangle);
}

}  // namespace sextant::plugins::path
