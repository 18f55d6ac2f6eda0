// Attention by the vectors of a CPU: what its files share. See attention_problem.hpp for what they work on.
#pragma once
#include <sextant/kernels/attention_problem.hpp>
#include <sextant/kernels/matmul_bf16_native.hpp>
#include <sextant/kernels/simd_block.hpp>

namespace sextant::kernels::host {
using namespace simd;

/// Keys of a chunk: what is packed, masked and skipped as one.
inline constexpr int chunk = 64;
/// Query rows of a block; a multiple of simd::block_rows.
inline constexpr int block = 96;

/// run(X{}), X being what the products of p take: pairs of bf16 where p asks for them and this build and its CPU both have
/// their arithmetic, else T.
template <class T, class Run>
void with_operands(Problem<T> const& p, Run&& run) {
  if constexpr (has_pairs && std::is_same_v<T, float>)
    if (p.precision == Precision::bf16 && blocks::has_bf16()) return run(Pair{});
  run(T{});
}

}  // namespace sextant::kernels::host
