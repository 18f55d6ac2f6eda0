// The inner part of small products, for right operands that are packed once and used by many of them.
#pragma once
#include <sextant/kernels/simd_block.hpp>

namespace sextant::kernels {

/// to[rows, end) = a[rows, depth] b^T for keys [begin, end) of b, packed by simd::pack_transposed. `to` begins at key
/// `origin`. What is formed begins at a whole panel and ends at a whole vector.
template <class T>
void panel_nt(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, int begin, int end, int depth, T* to,
              std::ptrdiff_t to_stride, int origin);

/// to[rows, cols] += alpha * a[rows, end - begin] b[begin .. end, cols], b packed by simd::pack_rows with `capacity`.
template <class T>
void panel_nn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, int capacity, int begin, int end, int cols,
              T alpha, T* to, std::ptrdiff_t to_stride);

}  // namespace sextant::kernels
