// The spectral view of an encoding as a representation of translation: the matrix of one step, its eigenvalues, what its
// powers do, and how well steps compose.
//
//   G(n) = [ C(n)  0  0 ]      C(n) = content(n, 0) content(0, 0)^-1, what n steps do to a content;
//          [ 0     1  0 ]      b(n) = bias(n, 0) - bias(0, 0), the corner of a unipotent block.
//          [ 0   b(n) 1 ]
//
// Turns have eigenvalues on the unit circle and powers of norm 1; a bias linear in distance is unipotent: its eigenvalues are
// all 1, its generator's all 0, and its powers grow like n; moduli above 1 grow exponentially and must be cut off.
#pragma once
#include <sextant/inspect/subject.hpp>

#include <complex>

namespace sextant::inspect {

struct Growth {
  double power = 0;    ///< n
  double content = 1;  ///< largest singular value of C(n)
  double whole = 1;    ///< largest singular value of G(n)
  double least = 1;    ///< smallest singular value of G(n)
};

struct Spectrum {
  int head = 0;
  bool content = false, bias = false;           ///< which blocks are there
  std::vector<std::complex<double>> step;       ///< eigenvalues of G(1), by descending modulus
  std::vector<std::complex<double>> generator;  ///< their logarithms, in radians (imaginary) and nepers a token
  double radius = 1;                            ///< largest modulus
  std::vector<Growth> growth;                   ///< n = 1, 2, 4, ... below length
  double relative_residual = 0;  ///< worst |f(i + c, j + c) - f(i, j)| over probes, f the content and the bias
  double content_residual = 0;   ///< worst |C(a) C(b) - C(a + b)| / |C(a + b)|
  double bias_residual = 0;      ///< worst |b(a) + b(b) - b(a + b)| / max(1, |b(a + b)|)
  /// The unipotent block's singular values at n = length - 1 by the matrix, and by the paper's closed form
  /// sqrt(1 + s^2/2 +- |s| sqrt(1 + s^2/4)), s = b(n): GRAPE, arXiv:2512.07805, appendix on additive spectra.
  double lift_s = 0, lift_measured[2] = {1, 1}, lift_lemma[2] = {1, 1};
};

Finding<Spectrum> spectrum(Subject const& subject, int head);

/// The lemma: singular values of I + s e_p e_q^T (p != q) besides ones, the larger first. Their product is 1.
void lift_singular_values(double s, double out[2]);

}  // namespace sextant::inspect
