// Rows of [batch, heads, len, dim] as plain pointers: a View's 4-D indexing costs more than a row's arithmetic on a host, and
// files for the CPU's vectors know no Kokkos.
#pragma once
#include <sextant/base/function.hpp>

#include <cstddef>

namespace sextant::kernels {

/// [batch, heads, len, dim] by strides in elements; the last axis is contiguous.
template <class T>
struct Rows {
  T* data = nullptr;
  std::ptrdiff_t batch = 0, head = 0, row = 0;
  SEXTANT_FUNCTION T* at(int b, int h, int i) const { return data + b * batch + h * head + i * row; }
};

}  // namespace sextant::kernels
