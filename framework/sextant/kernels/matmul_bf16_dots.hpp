// Rows of floats times columns of bf16 where they lie, by the vectors of a CPU.
#pragma once
#include <sextant/base/bfloat16.hpp>

#include <cstddef>

namespace sextant::kernels::blocks {

/// Numbers that split_row() writes for a row of `terms`.
int split_length(int terms);

/// A row, rounded to bf16, as columns of bf16 meet it: of every two vectors' worth the even entries, then the odd ones;
/// zeros behind the last.
void split_row(float const* x, int terms, float* to);

/// c[0 .. cols) = a b^T for one row `a` from split_row(); a vector's worth of rows of b at a time.
void dots(float const* a, BFloat16 const* b, std::ptrdiff_t b_stride, int cols, int terms, float* c);

}  // namespace sextant::kernels::blocks
