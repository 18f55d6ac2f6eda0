// Hands a plugin's formula its weights as plain numbers or as Dual, and differentiates a formula by them.
#pragma once
#include <sextant/encoding/formula.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace sextant::encoding {

template <class P>
concept DeclaresWeights = requires {
  typename P::template Weights<double>;
};
template <class P, class T>
struct WeightsOf {
  using type = NoWeights<T>;
};
template <DeclaresWeights P, class T>
struct WeightsOf<P, T> {
  using type = typename P::template Weights<T>;
};
template <class P>
inline constexpr bool has_weight_array = std::is_same_v<typename WeightsOf<P, double>::type, WeightArray<double>>;
/// Scalars in Weights<T>, for plugins whose Weights is a struct of them; 0 for none or a run-time count.
template <class P>
inline constexpr int fixed_weight_count = [] {
  if constexpr (DeclaresWeights<P> && !has_weight_array<P>)
    return static_cast<int>(sizeof(typename P::template Weights<double>) / sizeof(double));
  else
    return 0;
}();

/// The weights of one head in number type T. For Dual, weight first_seed + n carries the n-th unit derivative.
template <class P, class T>
class WeightsIn {
 public:
  using Number = T;
  WeightsIn(int count, double const* source, int first_seed = -1) {
    if constexpr (has_weight_array<P>) {
      numbers_.resize(count);
      for (int n = 0; n < count; ++n) numbers_[n] = make(source[n], n, first_seed);
    } else if constexpr (fixed_weight_count<P> > 0) {
      T all[fixed_weight_count<P>];
      for (int n = 0; n < fixed_weight_count<P>; ++n) all[n] = make(source[n], n, first_seed);
      static_assert(sizeof all == sizeof fixed_, "Weights<T> holds members of type T only");
      std::memcpy(static_cast<void*>(&fixed_), all, sizeof all);
    }
  }
  typename WeightsOf<P, T>::type get() const {
    if constexpr (has_weight_array<P>)
      return {numbers_.data()};
    else
      return fixed_;
  }

 private:
  static T make(double value, int n, int first_seed) {
    T out(static_cast<Scalar<T>>(value));
    if constexpr (!std::is_arithmetic_v<T>) {
      constexpr int seeds = sizeof(out.slope) / sizeof(out.slope[0]);
      int const seed = n - first_seed;
      if (first_seed >= 0 && seed >= 0 && seed < seeds) out.slope[seed] = 1;
    }
    return out;
  }
  typename WeightsOf<P, T>::type fixed_{};
  std::vector<T> numbers_;
};

/// Adds sum over calls of add(g, y) of g * dy/dw to grad[count]. `body(weights, add)` evaluates the formula on
/// weights.get(); it runs once per group of weights (forward mode).
template <class P, class Body>
void differentiate(int count, double const* source, double* grad, Body&& body) {
  constexpr int group = has_weight_array<P> ? 8 : (fixed_weight_count < P >> 0 ? fixed_weight_count<P> : 1);
  using D = Dual<double, group>;
  for (int first = 0; first < count; first += group) {
    WeightsIn<P, D> const weights(count, source, first);
    double sum[group] = {};
    body(weights, [&](double g, D const& y) {
      for (int n = 0; n < group; ++n) sum[n] += g * y.slope[n];
    });
    for (int n = 0; n < group && first + n < count; ++n) grad[first + n] += sum[n];
  }
}

}  // namespace sextant::encoding
