// Small dense matrices in double, and the three numbers of them that a spectral view needs: eigenvalues, singular values
// and the map that fits best. Plain O(n^3) routines for n up to a few hundred.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace sextant::inspect {

struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> data;  ///< row-major

  Matrix() = default;
  Matrix(int r, int c) : rows(r), cols(c), data(static_cast<std::size_t>(r) * c) {}
  static Matrix identity(int n);
  double& operator()(int r, int c) { return data[static_cast<std::size_t>(r) * cols + c]; }
  double operator()(int r, int c) const { return data[static_cast<std::size_t>(r) * cols + c]; }
  double const* row(int r) const { return data.data() + static_cast<std::size_t>(r) * cols; }
  double* row(int r) { return data.data() + static_cast<std::size_t>(r) * cols; }
};

/// a b, and a^T b. Throws Error when the shapes do not fit.
Matrix product(Matrix const& a, Matrix const& b);
Matrix product_transposed(Matrix const& a, Matrix const& b);
Matrix transposed(Matrix const& a);
Matrix difference(Matrix const& a, Matrix const& b);
double frobenius(Matrix const& a);
double trace(Matrix const& a);

/// Descending. One-sided Jacobi: small ones are as accurate, relative to the largest column, as large ones.
std::vector<double> singular_values(Matrix a);

/// Of a square matrix, by descending modulus. Hessenberg form, then QR with complex shifts.
std::vector<std::complex<double>> eigenvalues(Matrix const& a);

/// The A with the least |x A - y|^2 + ridge |x|^2 |A|^2, by Cholesky of the normal equations: ridge 1e-13 finds a map that
/// fits exactly to about 1e-6 and does not blow up in directions that x hardly has.
Matrix fit(Matrix const& x, Matrix const& y, double ridge = 1e-13);

/// The numbers' effective count, exp of the entropy of s / sum(s): n for n equal numbers, 1 for one number and zeros.
/// Source: Roy and Vetterli, "The effective rank", EUSIPCO 2007.
double effective_rank(std::vector<double> const& singular);

}  // namespace sextant::inspect
