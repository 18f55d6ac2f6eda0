#include <common/skew.hpp>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::plugins {
namespace {
using Complex = std::complex<double>;
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Real = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vectors = Eigen::Map<Matrix const>;

Vectors vectors(SkewSpectrum const& s) { return {s.vector.data(), s.n, s.n}; }

/// Of plain matrices: Eigen would compile each pairing of transposed and conjugated ones anew, 2 s each.
Matrix product(Matrix const& a, Matrix const& b) { return a * b; }
}  // namespace

SkewSpectrum skew_spectrum(double const* s, int n) {
  Eigen::MatrixXcd hermitian(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) hermitian(i, j) = Complex(0, -s[i * n + j]);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> const solver(hermitian);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(solver.eigenvalues()[a]) > std::abs(solver.eigenvalues()[b]); });
  SkewSpectrum out{n, std::vector<double>(n), std::vector<Complex>(static_cast<std::size_t>(n) * n)};
  for (int a = 0; a < n; ++a) {
    out.frequency[a] = solver.eigenvalues()[order[a]];
    for (int i = 0; i < n; ++i) out.vector[i * n + a] = solver.eigenvectors()(i, order[a]);
  }
  return out;
}

void skew_exp(SkewSpectrum const& s, double t, double* out) {
  Matrix turned = vectors(s);
  for (int a = 0; a < s.n; ++a) turned.col(a) *= std::polar(1.0, s.frequency[a] * t);
  Eigen::Map<Real>(out, s.n, s.n) = product(turned, vectors(s).adjoint()).real();
}

void add_skew_gradient(SkewSpectrum const& s, Complex const* k, double* grad_s) {
  auto const u = vectors(s);
  Matrix const left = product(u.conjugate(), Vectors(k, s.n, s.n));
  Eigen::Map<Real>(grad_s, s.n, s.n) += product(left, u.transpose()).real();
}

void add_skew_exp_gradient(SkewSpectrum const& s, double t, double const* grad_exp, double* grad_s) {
  auto const u = vectors(s);
  Matrix const half = product(u.transpose(), Eigen::Map<Real const>(grad_exp, s.n, s.n).cast<Complex>());
  Matrix k = product(half, u.conjugate());
  std::vector<Complex> turn(s.n);
  for (int a = 0; a < s.n; ++a) turn[a] = std::polar(1.0, 0.5 * s.frequency[a] * t);
  for (int a = 0; a < s.n; ++a)
    for (int b = 0; b < s.n; ++b) k(a, b) *= divided_difference(s.frequency[a], s.frequency[b], t, turn[a], turn[b]);
  add_skew_gradient(s, k.data(), grad_s);
}

}  // namespace sextant::plugins
