#pragma once
#include <sextant/base/function.hpp>

#include <cstdint>

namespace sextant::kernels {

/// Blocks of `size` that cover n things.
SEXTANT_FUNCTION constexpr int blocks_of(std::int64_t n, std::int64_t size) {
  return static_cast<int>((n + size - 1) / size);
}

}  // namespace sextant::kernels
