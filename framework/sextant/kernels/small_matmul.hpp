// Small matrix products of one thread, for links that work inside a strip. Sums run in an order that the sizes alone fix: that
// of k, but for small_nt of up to six rows, which sums by lanes.
#pragma once
#include <cstddef>

namespace sextant::kernels {

/// c[rows, cols] = alpha * a[rows, depth] b[cols, depth]^T, or += when `add`. Strides in elements; any sizes.
template <class T>
void small_nt(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add = false);

/// c[rows, cols] (+)= alpha * a[rows, depth] b[depth, cols].
template <class T>
void small_nn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add = false);

/// c[rows, cols] (+)= alpha * a[depth, rows]^T b[depth, cols].
template <class T>
void small_tn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add = false);

}  // namespace sextant::kernels
