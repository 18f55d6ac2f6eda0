// The turn of one plane in closed form, and its derivative.
#pragma once
#include <cmath>

namespace sextant::plugins {

/// What exp(eta L), L = a b^T - b a^T, needs of the plane: G x = x + [f1 w + f2 (ga w - be u)] a
/// + [-f1 u + f2 (ga u - al w)] b with u = a.x, w = b.x.
struct PlaneTurn {
  double f1, f2;            ///< sin(eta S) / S and (1 - cos(eta S)) / S^2, S^2 = al be - ga^2
  double f1_eta, f2_eta;    ///< their derivatives by eta
  double f1_area, f2_area;  ///< and by S^2
};

/// Functions of z^2 alone, so that nothing divides by S; eta may have either sign.
inline PlaneTurn plane_turn(double eta, double area) {
  double const q = eta * eta * area;
  double s, c, ds, dc, cosine;  // sin z / z, (1 - cos z) / z^2, their derivatives by z^2, cos z
  if (q < 0.25) {
    s = c = ds = dc = 0;
    double term = 1;  // (-q)^k / (2k + 1)!
    for (int k = 0; k < 10; ++k) {
      s += term;
      c += term / (2 * k + 2);
      double const next = -term / ((2 * k + 2) * (2 * k + 3));  // without its power of q: for d / dq
      ds += (k + 1) * next;
      dc += (k + 1) * next / (2 * k + 4);
      term = next * q;
    }
    cosine = 1 - q * c;
  } else {
    double const z = std::sqrt(q);
    cosine = std::cos(z);
    s = std::sin(z) / z;
    c = (1 - cosine) / q;
    ds = (cosine - s) / (2 * q);
    dc = (0.5 * s - c) / q;
  }
  double const eta2 = eta * eta;
  return {eta * s, eta2 * c, cosine, eta * s, eta2 * eta * ds, eta2 * eta2 * dc};
}

}  // namespace sextant::plugins
