// What the tests of the dense kernels share: numbered random arrays and central differences.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/philox.hpp>

#include <cmath>
#include <functional>
#include <string>

namespace sextant::test {

/// Normal numbers of a named stream.
template <class T>
View1<T> random1(std::string const& name, int n, double scale = 1) {
  View1<T> x(name, static_cast<std::size_t>(n));
  Stream const stream(7, name);
  for (int i = 0; i < n; ++i) x(i) = static_cast<T>(scale * stream.normal(static_cast<std::uint64_t>(i)));
  return x;
}
template <class T>
View2<T> random2(std::string const& name, int rows, int cols, double scale = 1) {
  View2<T> x(name, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
  Stream const stream(7, name);
  for (int i = 0; i < rows * cols; ++i)
    x.data()[i] = static_cast<T>(scale * stream.normal(static_cast<std::uint64_t>(i)));
  return x;
}

/// What rounding may do to a sum of k products of normal numbers: about sqrt(k) roundings of `unit`.
inline double product_bound(int k, double unit) {
  return 8 * unit * std::sqrt(static_cast<double>(k)) * std::log2(k + 2.0);
}

/// The largest |x - y| over all entries.
template <class X, class Y>
double largest_difference(X const& x, Y const& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i])));
  return worst;
}

template <class X, class Y>
bool same_bits(X const& x, Y const& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.data()[i] != y.data()[i]) return false;
  return x.size() == y.size();
}

/// The largest |grad[i] - (loss(x + h e_i) - loss(x - h e_i)) / 2h| over the n entries of x, relative to the largest
/// |grad| (or 1). x is left as it was.
inline double gradient_error(double* x, double const* grad, int n, std::function<double()> const& loss,
                             double h = 1e-5) {
  double worst = 0, size = 1;
  for (int i = 0; i < n; ++i) {
    double const kept = x[i];
    x[i] = kept + h;
    double const above = loss();
    x[i] = kept - h;
    double const below = loss();
    x[i] = kept;
    worst = std::max(worst, std::abs(grad[i] - (above - below) / (2 * h)));
    size = std::max(size, std::abs(grad[i]));
  }
  return worst / size;
}

/// sum of x * weight: a scalar whose gradient in x is `weight`.
template <class X, class W>
double weighted(X const& x, W const& weight) {
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    total += static_cast<double>(x.data()[i]) * static_cast<double>(weight.data()[i]);
  return total;
}

}  // namespace sextant::test
