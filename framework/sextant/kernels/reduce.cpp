#include <sextant/base/error.hpp>
#include <sextant/kernels/reduce.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {
namespace {
constexpr std::int64_t reduce_block = 4096;

// One double per block of x, then the blocks in order on the host.
template <class X, class Term>
double sum_blocks(Exec const& exec, X const& x, Term const& term, Scratch<double>& scratch) {
  std::int64_t const count = static_cast<std::int64_t>(x.extent(0));
  int const blocks = blocks_of(count, reduce_block);
  View1<double> const part = scratch.at_least(static_cast<std::size_t>(blocks));
  Kokkos::parallel_for(
      "sextant::sum", Kokkos::RangePolicy<Exec>(exec, 0, blocks), KOKKOS_LAMBDA(int block) {
        std::int64_t const begin = block * reduce_block;
        std::int64_t const left = count - begin;
        auto const* const values = x.data() + begin;
        part(block) = row_sum<double>(static_cast<int>(left < reduce_block ? left : reduce_block),
                                      [&](int i) { return term(static_cast<double>(values[i])); });
      });
  exec.fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part);
  double total = 0;
  for (int block = 0; block < blocks; ++block) total += host(block);
  return total;
}

struct Square {
  KOKKOS_FUNCTION double operator()(double x) const { return x * x; }
};
struct Itself {
  KOKKOS_FUNCTION double operator()(double x) const { return x; }
};
}  // namespace

template <class T>
double sum_of_squares(Exec const& exec, View1<T const> const& x, Scratch<double>& scratch) {
  return sum_blocks(exec, x, Square{}, scratch);
}

double sum(Exec const& exec, View1<double const> const& x, Scratch<double>& scratch) {
  return sum_blocks(exec, x, Itself{}, scratch);
}

template <class T>
void add_rows(Exec const& exec, View2<T const> const& part, View1<T> const& target) {
  int const rows = part.extent_int(0), width = part.extent_int(1);
  expect(target.extent_int(0) == width, "add_rows: target has ", target.extent(0), " entries, expected ", width);
  Kokkos::parallel_for(
      "sextant::add_rows", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(width, block_rows)), KOKKOS_LAMBDA(int block) {
        int const begin = block * block_rows, end = begin + block_rows < width ? begin + block_rows : width;
        for (int j = begin; j < end; ++j) {
          T total = 0;
          for (int i = 0; i < rows; ++i) total += part(i, j);
          target(j) += total;
        }
      });
}

template <class T>
void add(Exec const& exec, View1<T const> const& x, View1<T> const& y) {
  std::int64_t const count = static_cast<std::int64_t>(x.extent(0));
  expect(y.extent(0) == x.extent(0), "add: y has ", y.extent(0), " entries, expected ", x.extent(0));
  Kokkos::parallel_for(
      "sextant::add", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(count, reduce_block)), KOKKOS_LAMBDA(int block) {
        std::int64_t const begin = block * reduce_block;
        std::int64_t const end = begin + reduce_block < count ? begin + reduce_block : count;
        T const* const from = x.data();
        T* const to = y.data();
        for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
      });
}

#define SEXTANT_INSTANTIATE(T)                                                          \
  template double sum_of_squares(Exec const&, View1<T const> const&, Scratch<double>&); \
  template void add_rows(Exec const&, View2<T const> const&, View1<T> const&);          \
  template void add(Exec const&, View1<T const> const&, View1<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
