// CHECK_THAT(actual, CloseTo(expected, bound)): equal shapes, and no element further off than bound * max(1, |expected|).
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/kokkos.hpp>

#include <catch2/matchers/catch_matchers_templated.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace sextant::test {

/// An array of any kind, flat and in double.
struct Values {
  std::vector<std::size_t> shape;
  std::vector<double> value;
};

template <class T>
Values values(std::vector<T> const& list) {
  return {{list.size()}, std::vector<double>(list.begin(), list.end())};
}
inline Values const& values(Values const& same) { return same; }

template <class T, class... Properties>
Values values(Kokkos::View<T, Properties...> const& view) {
  using V = Kokkos::View<T, Properties...>;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  Values flat;
  for (unsigned i = 0; i < static_cast<unsigned>(V::rank); ++i) flat.shape.push_back(view.extent(i));
  for (std::size_t i = 0; i < view.extent(0); ++i)
    if constexpr (V::rank == 1)
      flat.value.push_back(static_cast<double>(host(i)));
    else
      for (std::size_t j = 0; j < view.extent(1); ++j)
        if constexpr (V::rank == 2)
          flat.value.push_back(static_cast<double>(host(i, j)));
        else
          for (std::size_t k = 0; k < view.extent(2); ++k)
            if constexpr (V::rank == 3)
              flat.value.push_back(static_cast<double>(host(i, j, k)));
            else
              for (std::size_t l = 0; l < view.extent(3); ++l)
                flat.value.push_back(static_cast<double>(host(i, j, k, l)));
  return flat;
}

class CloseTo final : public Catch::Matchers::MatcherGenericBase {
 public:
  template <class Expected>
  CloseTo(Expected const& expected, double bound) : expected_(values(expected)), bound_(bound) {}

  template <class Actual>
  bool match(Actual const& actual) const {
    Values const found = values(actual);
    if (found.shape != expected_.shape) {
      story_ = text("has shape ", found.shape, ", expected ", expected_.shape);
      return false;
    }
    double worst = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < found.value.size(); ++i) {
      double const error = off(found.value[i], expected_.value[i]);
      if (error > worst) worst = error, at = i;
    }
    if (found.value.empty()) story_ = "is empty, as expected";
    if (worst >= 0) {
      std::ostringstream out;
      out.precision(17);
      out << "at " << text(index(at)) << " is " << found.value[at] << ", expected " << expected_.value[at]
          << " (off by " << worst << ", bound " << bound_ << ')';
      story_ = out.str();
    }
    return worst <= bound_;
  }

  std::string describe() const override { return story_; }

 private:
  static double off(double found, double expected) {
    if (found == expected) return 0;  // also equal infinities
    double const error = std::abs(found - expected) / std::max(1.0, std::abs(expected));
    return std::isfinite(error) && std::isfinite(expected) ? error : INFINITY;
  }
  std::vector<std::size_t> index(std::size_t flat) const {
    std::vector<std::size_t> out(expected_.shape.size());
    for (std::size_t axis = out.size(); axis-- > 0; flat /= expected_.shape[axis])
      out[axis] = flat % expected_.shape[axis];
    return out;
  }

  Values expected_;
  double bound_;
  mutable std::string story_;
};

}  // namespace sextant::test
