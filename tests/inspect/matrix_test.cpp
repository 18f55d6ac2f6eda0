#include <sextant/base/philox.hpp>
#include <sextant/inspect/matrix.hpp>

#include <catch2/catch_all.hpp>
#include <cmath>

using namespace sextant;
using namespace sextant::inspect;

namespace {
Matrix random(int rows, int cols, char const* name) {
  Stream const stream(7, name);
  Matrix out(rows, cols);
  for (std::size_t n = 0; n < out.data.size(); ++n) out.data[n] = stream.normal(n);
  return out;
}
/// Orthonormal columns, by Gram-Schmidt twice.
Matrix orthogonal(int n, char const* name) {
  Matrix q = random(n, n, name);
  for (int pass = 0; pass < 2; ++pass)
    for (int c = 0; c < n; ++c) {
      for (int d = 0; d < c; ++d) {
        double dot = 0;
        for (int r = 0; r < n; ++r) dot += q(r, c) * q(r, d);
        for (int r = 0; r < n; ++r) q(r, c) -= dot * q(r, d);
      }
      double norm = 0;
      for (int r = 0; r < n; ++r) norm += q(r, c) * q(r, c);
      for (int r = 0; r < n; ++r) q(r, c) /= std::sqrt(norm);
    }
  return q;
}
}  // namespace

TEST_CASE("singular values: U diag V^T gives back the diagonal, in any order and shape", "[inspect][matrix]") {
  double const wanted[] = {5, 3, 1, 0.01, 1e-9};
  Matrix middle(9, 5);
  for (int i = 0; i < 5; ++i) middle(i, (i + 2) % 5) = wanted[i];
  Matrix const a = product(product(orthogonal(9, "u"), middle), orthogonal(5, "v"));
  for (auto const& found : {singular_values(a), singular_values(transposed(a))}) {
    REQUIRE(found.size() == 5);
    for (int i = 0; i < 5; ++i) CHECK(found[i] == Catch::Approx(wanted[i]).epsilon(1e-6).margin(1e-14));
  }
}

TEST_CASE("eigenvalues: of S diag S^-1, of a turn, of a nilpotent and of a companion matrix", "[inspect][matrix]") {
  SECTION("a similar matrix keeps them") {
    Matrix diagonal(6, 6);
    for (int i = 0; i < 6; ++i) diagonal(i, i) = i - 2.5;
    Matrix const q = orthogonal(6, "q");
    auto const found = eigenvalues(product(product(q, diagonal), transposed(q)));
    double sum = 0, square = 0;
    for (auto const& z : found) {
      CHECK(std::abs(z.imag()) < 1e-12);
      CHECK(std::abs(std::remainder(z.real() - 0.5, 1.0)) < 1e-12);
      sum += z.real(), square += std::norm(z);
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(square == Catch::Approx(2 * (2.5 * 2.5 + 1.5 * 1.5 + 0.5 * 0.5)));
  }
  SECTION("a turn by 0.3") {
    Matrix turn(2, 2);
    turn.data = {std::cos(0.3), -std::sin(0.3), std::sin(0.3), std::cos(0.3)};
    auto const found = eigenvalues(turn);
    CHECK(found[0].real() == Catch::Approx(std::cos(0.3)).epsilon(1e-14));
    CHECK(std::abs(found[0].imag()) == Catch::Approx(std::sin(0.3)).epsilon(1e-14));
    CHECK(std::abs(found[1] - std::conj(found[0])) < 1e-15);
  }
  SECTION("nilpotent: all 0") {
    Matrix shift(4, 4);
    for (int i = 0; i + 1 < 4; ++i) shift(i + 1, i) = 1;
    for (auto const& z : eigenvalues(shift)) CHECK(std::abs(z) < 1e-3);  // a fourfold root is known to eps^(1/4)
  }
  SECTION("roots of x^8 - 1: the cyclic shift, on which unshifted QR stands still") {
    Matrix cycle(8, 8);
    for (int i = 0; i < 8; ++i) cycle(i, (i + 1) % 8) = 1;
    auto const found = eigenvalues(cycle);
    REQUIRE(found.size() == 8);
    std::complex<double> product_of_all = 1;
    for (auto const& z : found) {
      CHECK(std::abs(std::pow(z, 8) - 1.0) < 1e-12);
      product_of_all *= z;
    }
    CHECK(std::abs(product_of_all + 1.0) < 1e-12);  // their product is -1: none came twice
  }
}

TEST_CASE("fit: finds the map that made the rows, and the least squares when none did", "[inspect][matrix]") {
  Matrix const x = random(40, 6, "x"), map = random(6, 6, "map");
  CHECK(frobenius(difference(fit(x, product(x, map)), map)) < 1e-5 * frobenius(map));
  Matrix const y = random(40, 6, "y");
  Matrix const left = difference(product(x, fit(x, y)), y);
  CHECK(frobenius(product_transposed(x, left)) < 1e-5 * frobenius(y));  // what is left is orthogonal to x
}

TEST_CASE("effective rank: n equal numbers count n, one counts 1, and weights lie between", "[inspect][matrix]") {
  CHECK(effective_rank(std::vector<double>(7, 2.5)) == Catch::Approx(7));
  CHECK(effective_rank({3, 0, 0}) == Catch::Approx(1));
  double const entropy = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  CHECK(effective_rank({3, 1}) == Catch::Approx(std::exp(entropy)));
  CHECK(effective_rank(singular_values(Matrix::identity(12))) == Catch::Approx(12));
}
