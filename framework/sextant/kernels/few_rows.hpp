// Products of a few rows with a matrix whose rows are read once, where they lie, by the vectors of a CPU.
#pragma once
#include <sextant/base/bfloat16.hpp>

#include <cstddef>

namespace sextant::kernels {

/// Rows up to which matmul_few is faster than matmul: it reads b once, where it lies.
inline constexpr int few_rows = 6;

}  // namespace sextant::kernels

namespace sextant::kernels::few {

/// Numbers of type T that one row of `terms` takes once it is laid out: whole pairs of vectors.
template <class T>
int row_length(int terms);

/// A row as the rows of b meet it, with zeros behind the last number.
template <class T>
void lay_out(T const* x, int terms, T* to);
/// The same for rows of bf16: rounded, of every two vectors' worth the even entries first, then the odd ones.
void lay_out_rounded(float const* x, int terms, float* to);

/// c = a b^T. Rows of b one after another: that is the order in which memory delivers them fastest.
///   a [rows, row_length(terms)], laid out   b [cols, terms]   c [rows, cols]
/// 1 <= rows <= few_rows. T is float or double, B is T or, for float, BFloat16. Sums of a row do not depend on the others.
template <class T, class B>
void product(int rows, T const* a, B const* b, std::ptrdiff_t b_stride, int cols, int terms, T* c,
             std::ptrdiff_t c_stride);

}  // namespace sextant::kernels::few
