// A row added to all rows of a matrix, and a factor on all of them.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// x[i, j] += row[j].   x [rows, width]   row [width]
template <class T>
void add_to_rows(Exec const& exec, View1<T const> const& row, View2<T> const& x);

/// x *= factor
template <class T>
void multiply_by(Exec const& exec, double factor, View2<T> const& x);

}  // namespace sextant::kernels
