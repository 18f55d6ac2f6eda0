// Attention by the vectors of a CPU: what its files share. See attention_problem.hpp for what they work on.
#pragma once
#include <sextant/kernels/attention_problem.hpp>
#include <sextant/kernels/simd_block.hpp>

namespace sextant::kernels::host {
using namespace simd;

/// Keys of a chunk: what is packed, masked and skipped as one.
inline constexpr int chunk = 64;
/// Query rows of a block; a multiple of simd::block_rows.
inline constexpr int block = 96;

}  // namespace sextant::kernels::host
