#include <sextant/base/error.hpp>
#include <sextant/kernels/loss.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {
namespace {
constexpr int task_rows = 16;

template <class Logits>
void check_loss(Logits const& logits, View1<int const> const& target, View1<double> const& nll) {
  expect(logits.extent(1) > 0 && target.extent(0) == logits.extent(0) && nll.extent(0) == logits.extent(0),
         "cross_entropy: logits are [", logits.extent(0), ", ", logits.extent(1), "], target has ", target.extent(0),
         " and nll ", nll.extent(0), " entries, expected ", logits.extent(0));
}
// term(0) + ... + term(n - 1): blocks of 4096 by row_sum, which are added in double. A vocabulary of 50 thousand would lose
// 1e-5 of each loss in one sum of floats.
template <class T, class Term>
KOKKOS_INLINE_FUNCTION double sum_of_terms(int n, Term const& term) {
  constexpr int block = 4096;
  double total = 0;
  for (int first = 0; first < n; first += block)
    total +=
        static_cast<double>(row_sum<T>(n - first < block ? n - first : block, [&](int v) { return term(first + v); }));
  return total;
}
}  // namespace

template <class T>
void cross_entropy(Exec const& exec, View2<T const> const& logits, View1<int const> const& target,
                   View1<double> const& nll) {
  check_loss(logits, target, nll);
  int const rows = logits.extent_int(0), vocabulary = logits.extent_int(1);
  Kokkos::parallel_for(
      "sextant::cross_entropy", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(rows, task_rows)),
      KOKKOS_LAMBDA(int block) {
        for (int i = block * task_rows; i < rows && i < (block + 1) * task_rows; ++i) {
          nll(i) = 0;
          if (target(i) < 0) continue;
          T const* const row = &logits(i, 0);
          T const largest = row_max(vocabulary, row);
          double const total = sum_of_terms<T>(vocabulary, [=](int v) { return row_exp(row[v] - largest); });
          nll(i) = ::log(total) + (static_cast<double>(largest) - static_cast<double>(row[target(i)]));
        }
      });
}

template <class T>
void cross_entropy_with_gradient(Exec const& exec, View2<T> const& logits, View1<int const> const& target, double scale,
                                 View1<double> const& nll) {
  check_loss(logits, target, nll);
  int const rows = logits.extent_int(0), vocabulary = logits.extent_int(1);
  Kokkos::parallel_for(
      "sextant::cross_entropy_with_gradient", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(rows, task_rows)),
      KOKKOS_LAMBDA(int block) {
        for (int i = block * task_rows; i < rows && i < (block + 1) * task_rows; ++i) {
          T* const row = &logits(i, 0);
          nll(i) = 0;
          if (target(i) < 0) {
            for (int v = 0; v < vocabulary; ++v) row[v] = 0;
            continue;
          }
          T const largest = row_max(vocabulary, static_cast<T const*>(row));
          double const chosen = static_cast<double>(row[target(i)]);
          for (int v = 0; v < vocabulary; ++v) row[v] = row_exp(row[v] - largest);
          double const total = sum_of_terms<T>(vocabulary, [=](int v) { return row[v]; });
          nll(i) = ::log(total) + (static_cast<double>(largest) - chosen);
          T const factor = static_cast<T>(scale) / static_cast<T>(total);
          for (int v = 0; v < vocabulary; ++v) row[v] *= factor;
          row[target(i)] -= static_cast<T>(scale);
        }
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                                    \
  template void cross_entropy(Exec const&, View2<T const> const&, View1<int const> const&, View1<double> const&); \
  template void cross_entropy_with_gradient(Exec const&, View2<T> const&, View1<int const> const&, double,        \
                                            View1<double> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
