#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/rows.hpp>

namespace sextant::kernels {

/// The rows of a View.
template <class T>
Rows<T> rows_of(Heads<T> const& view) {
  return {view.data(), static_cast<std::ptrdiff_t>(view.stride(0)), static_cast<std::ptrdiff_t>(view.stride(1)),
          static_cast<std::ptrdiff_t>(view.stride(2))};
}

}  // namespace sextant::kernels
