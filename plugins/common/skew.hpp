// exp(t S) of a real skew matrix S and its derivative, through the eigenvectors of S.
//
//   S = U diag(i f) U^H,  U unitary: -iS is Hermitian, so the decomposition exists and is well conditioned for every S
//   exp(t S) = U diag(e^{i f t}) U^H
//   d exp(t S) = U (Phi o (U^H dS U)) U^H,  Phi_ab = (e^{i f_a t} - e^{i f_b t}) / (i (f_a - f_b))
//
// The last line is the Daleckii-Krein form of the Frechet derivative. Phi is an entire function of f_a - f_b (its value
// at equal frequencies is t e^{i f t}), and no eigenvector is differentiated: equal frequencies are nothing special.
#pragma once
#include <complex>
#include <vector>

namespace sextant::plugins {

struct SkewSpectrum {
  int n = 0;
  std::vector<double> frequency;             ///< [n], by falling absolute value; come in pairs +f, -f
  std::vector<std::complex<double>> vector;  ///< [n, n] row-major; column a belongs to frequency[a]
};

/// s [n, n] row-major, skew.
SkewSpectrum skew_spectrum(double const* s, int n);

/// out [n, n] = exp(t S).
void skew_exp(SkewSpectrum const& s, double t, double* out);

/// Phi_ab above, given e^{i f t / 2} of both.
inline std::complex<double> divided_difference(double f_a, double f_b, double t, std::complex<double> half_a,
                                               std::complex<double> half_b) {
  double const x = 0.5 * t * (f_a - f_b), q = x * x;
  double const sinc =
      q < 0.25 ? 1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110 * (1 - q / 156 * (1 - q / 210))))))
               : (half_a.imag() * half_b.real() - half_a.real() * half_b.imag()) / x;
  std::complex<double> const turn{half_a.real() * half_b.real() - half_a.imag() * half_b.imag(),
                                  half_a.real() * half_b.imag() + half_a.imag() * half_b.real()};
  return t * sinc * turn;
}

/// grad_s [n, n] += Re(conj(U) K U^T): what K_ab = conj((U^H g)_a) Phi_ab (U^H x)_b, summed over the maps y = exp(t S) x
/// with d loss / d y = g, says of d loss / d S. The entries of S count as independent.
void add_skew_gradient(SkewSpectrum const& s, std::complex<double> const* k, double* grad_s);

/// grad_s [n, n] += d loss / d S, given grad_exp [n, n] = d loss / d exp(t S).
void add_skew_exp_gradient(SkewSpectrum const& s, double t, double const* grad_exp, double* grad_s);

/// The strict upper triangle, row-major, fills U; out [n, n] = U - U^T.
inline void skew_from_upper(double const* upper, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    out[i * n + i] = 0;
    for (int j = i + 1; j < n; ++j) {
      out[i * n + j] = *upper;
      out[j * n + i] = -*upper++;
    }
  }
}
/// Adds d loss / d upper, given d loss / d S with its entries independent.
inline void add_upper_gradient(double const* grad_s, int n, double scale, double* grad_upper) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) *grad_upper++ += scale * (grad_s[i * n + j] - grad_s[j * n + i]);
}
inline std::size_t upper_count(int n) { return static_cast<std::size_t>(n) * (n - 1) / 2; }

}  // namespace sextant::plugins
