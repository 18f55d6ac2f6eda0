// Forward-mode derivatives: a value and its N partial derivatives, so that a formula written once gives its gradient.
#pragma once
#include <Kokkos_Core.hpp>

#include <cmath>
#include <type_traits>

namespace sextant {

template <class R, int N>
struct Dual {
  R value = 0;
  R slope[N] = {};

  KOKKOS_DEFAULTED_FUNCTION Dual() = default;
  KOKKOS_FUNCTION Dual(R v) : value(v) {}
  template <class S, class = std::enable_if_t<std::is_arithmetic_v<S> && !std::is_same_v<S, R>>>
  KOKKOS_FUNCTION Dual(S v) : value(static_cast<R>(v)) {}

  KOKKOS_FUNCTION Dual& operator+=(Dual const& b) { return *this = *this + b; }
  KOKKOS_FUNCTION Dual& operator-=(Dual const& b) { return *this = *this - b; }
  KOKKOS_FUNCTION Dual& operator*=(Dual const& b) { return *this = *this * b; }

  /// f(a) with derivative d: the chain rule.
  KOKKOS_FUNCTION static Dual chain(R f, Dual const& a, R d) {
    Dual out(f);
    for (int n = 0; n < N; ++n) out.slope[n] = d * a.slope[n];
    return out;
  }
  friend KOKKOS_FUNCTION Dual operator+(Dual const& a, Dual const& b) {
    Dual out(a.value + b.value);
    for (int n = 0; n < N; ++n) out.slope[n] = a.slope[n] + b.slope[n];
    return out;
  }
  friend KOKKOS_FUNCTION Dual operator-(Dual const& a, Dual const& b) {
    Dual out(a.value - b.value);
    for (int n = 0; n < N; ++n) out.slope[n] = a.slope[n] - b.slope[n];
    return out;
  }
  friend KOKKOS_FUNCTION Dual operator-(Dual const& a) { return chain(-a.value, a, R(-1)); }
  friend KOKKOS_FUNCTION Dual operator*(Dual const& a, Dual const& b) {
    Dual out(a.value * b.value);
    for (int n = 0; n < N; ++n) out.slope[n] = a.slope[n] * b.value + a.value * b.slope[n];
    return out;
  }
  friend KOKKOS_FUNCTION Dual operator/(Dual const& a, Dual const& b) {
    R const inverse = R(1) / b.value, quotient = a.value * inverse;
    Dual out(quotient);
    for (int n = 0; n < N; ++n) out.slope[n] = (a.slope[n] - quotient * b.slope[n]) * inverse;
    return out;
  }
  friend KOKKOS_FUNCTION bool operator<(Dual const& a, Dual const& b) { return a.value < b.value; }
  friend KOKKOS_FUNCTION bool operator>(Dual const& a, Dual const& b) { return a.value > b.value; }
  friend KOKKOS_FUNCTION bool operator<=(Dual const& a, Dual const& b) { return a.value <= b.value; }
  friend KOKKOS_FUNCTION bool operator>=(Dual const& a, Dual const& b) { return a.value >= b.value; }
};

/// The plain number under a formula's number type: T itself, or R of Dual<R, N>.
template <class T>
struct ScalarOf {
  using type = T;
};
template <class R, int N>
struct ScalarOf<Dual<R, N>> {
  using type = R;
};
template <class T>
using Scalar = typename ScalarOf<T>::type;

template <class T>
KOKKOS_FUNCTION Scalar<T> value_of(T const& x) {
  if constexpr (std::is_arithmetic_v<T>)
    return x;
  else
    return x.value;
}

}  // namespace sextant
