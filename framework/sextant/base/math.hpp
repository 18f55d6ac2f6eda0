// The functions a formula may use: one name for plain numbers and for Dual.
#pragma once
#include <sextant/base/dual.hpp>

namespace sextant::math {

// Plain numbers go to the C++ library; Dual adds the derivative.
#define SEXTANT_MATH_FUNCTION(name, derivative)                       \
  KOKKOS_INLINE_FUNCTION float name(float x) { return ::name##f(x); } \
  KOKKOS_INLINE_FUNCTION double name(double x) { return ::name(x); }  \
  template <class R, int N>                                           \
  KOKKOS_FUNCTION Dual<R, N> name(Dual<R, N> const& a) {              \
    R const x = a.value, f = name(x);                                 \
    (void)x, (void)f;                                                 \
    return Dual<R, N>::chain(f, a, derivative);                       \
  }
SEXTANT_MATH_FUNCTION(exp, f)
SEXTANT_MATH_FUNCTION(log, R(1) / x)
SEXTANT_MATH_FUNCTION(log1p, R(1) / (R(1) + x))
SEXTANT_MATH_FUNCTION(sqrt, R(0.5) / f)
SEXTANT_MATH_FUNCTION(sin, R(::cos(x)))
SEXTANT_MATH_FUNCTION(cos, R(-::sin(x)))
SEXTANT_MATH_FUNCTION(tanh, R(1) - f * f)
SEXTANT_MATH_FUNCTION(floor, R(0))
SEXTANT_MATH_FUNCTION(ceil, R(0))
#undef SEXTANT_MATH_FUNCTION

KOKKOS_INLINE_FUNCTION float pow(float x, float y) { return ::powf(x, y); }
KOKKOS_INLINE_FUNCTION double pow(double x, double y) { return ::pow(x, y); }
/// x^y for a plain exponent.
template <class R, int N>
KOKKOS_FUNCTION Dual<R, N> pow(Dual<R, N> const& a, R y) {
  return Dual<R, N>::chain(pow(a.value, y), a, y * pow(a.value, y - R(1)));
}

template <class T>
KOKKOS_FUNCTION T abs(T const& x) {
  return x < T(0) ? -x : x;
}
template <class T>
KOKKOS_FUNCTION T max(T const& a, T const& b) {
  return a < b ? b : a;
}
template <class T>
KOKKOS_FUNCTION T min(T const& a, T const& b) {
  return b < a ? b : a;
}

/// 1 / (1 + e^-x) without overflow.
template <class R>
KOKKOS_FUNCTION std::enable_if_t<std::is_arithmetic_v<R>, R> sigmoid(R x) {
  R const e = exp(x < 0 ? x : -x);
  return (x < 0 ? e : R(1)) / (R(1) + e);
}
template <class R, int N>
KOKKOS_FUNCTION Dual<R, N> sigmoid(Dual<R, N> const& a) {
  R const f = sigmoid(a.value);
  return Dual<R, N>::chain(f, a, f * (R(1) - f));
}

/// ln(1 + e^x) without overflow.
template <class R>
KOKKOS_FUNCTION std::enable_if_t<std::is_arithmetic_v<R>, R> softplus(R x) {
  return (x > 0 ? x : R(0)) + log1p(exp(x > 0 ? -x : x));
}
template <class R, int N>
KOKKOS_FUNCTION Dual<R, N> softplus(Dual<R, N> const& a) {
  return Dual<R, N>::chain(softplus(a.value), a, sigmoid(a.value));
}
/// The x with softplus(x) = y, y > 0.
KOKKOS_INLINE_FUNCTION double inverse_softplus(double y) { return y > 30 ? y : log(::expm1(y)); }

template <class T>
KOKKOS_FUNCTION T log_sigmoid(T const& x) {
  return -softplus(-x);
}

}  // namespace sextant::math
