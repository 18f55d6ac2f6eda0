#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/affine.hpp>

namespace sextant::kernels {

template <class T>
void add_to_rows(Exec const& exec, View1<T const> const& row, View2<T> const& x) {
  int const width = x.extent_int(1);
  expect(row.extent_int(0) == width, "add_to_rows: the row has ", row.extent(0), " entries, expected ", width);
  launch(
      exec, "sextant::add_to_rows", x.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const* const from = row.data();
        T* const to = &x(i, 0);
        for (int j = 0; j < width; ++j) to[j] += from[j];
      });
}

template <class T>
void multiply_by(Exec const& exec, double factor, View2<T> const& x) {
  int const width = x.extent_int(1);
  T const by = static_cast<T>(factor);
  launch(
      exec, "sextant::multiply_by", x.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T* const to = &x(i, 0);
        for (int j = 0; j < width; ++j) to[j] *= by;
      });
}

#define SEXTANT_INSTANTIATE(T)                                                    \
  template void add_to_rows(Exec const&, View1<T const> const&, View2<T> const&); \
  template void multiply_by(Exec const&, double, View2<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
