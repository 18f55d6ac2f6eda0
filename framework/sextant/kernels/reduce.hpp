// Sums whose order does not depend on threads: fixed blocks, added in the order of their index.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// Memory that grows to the largest request and is kept, so that a training step allocates nothing.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::string label = "sextant::scratch") : label_(std::move(label)) {}
  View1<T> at_least(std::size_t count) {
    if (view_.extent(0) < count) view_ = View1<T>(uninitialized(label_), count);
    return view_;
  }

 private:
  std::string label_;
  View1<T> view_;
};

/// The sum of squares in double, blocks of 4096. Waits for the result.
template <class T>
double sum_of_squares(Exec const& exec, View1<T const> const& x, Scratch<double>& scratch);

/// The sum in double, blocks of 4096. Waits for the result.
double sum(Exec const& exec, View1<double const> const& x, Scratch<double>& scratch);

/// target[j] += part(0, j) + part(1, j) + ..., each column summed from the first row to the last.
template <class T>
void add_rows(Exec const& exec, View2<T const> const& part, View1<T> const& target);

/// y += x
template <class T>
void add(Exec const& exec, View1<T const> const& x, View1<T> const& y);

}  // namespace sextant::kernels
