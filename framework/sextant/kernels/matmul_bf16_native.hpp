// bf16 products by the CPU's own arithmetic.
#pragma once
#include <sextant/base/bfloat16.hpp>
#include <sextant/kernels/matmul_operands.hpp>

namespace sextant::kernels::blocks {

/// Whether this CPU multiplies bf16 numbers (AVX512_BF16, and AMX where oneDNN finds it).
bool has_bf16();

/// c = op(a) op(b), or c +=, in the calling thread alone. Throws Error where has_bf16() is false.
void multiply_bf16(Size n, Block<BFloat16 const> a, Op op_a, Block<BFloat16 const> b, Op op_b, Block<float> c,
                   Into into);

/// to [rows, cols] = x, rounded to nearest, ties to even; a subnormal number may become zero, as it does in the product.
void round_to_bf16(Block<float const> x, int rows, int cols, BFloat16* to);

}  // namespace sextant::kernels::blocks
