#include <sextant/base/error.hpp>
#include <sextant/inspect/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::inspect {

Matrix Matrix::identity(int n) {
  Matrix out(n, n);
  for (int i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

Matrix product(Matrix const& a, Matrix const& b) {
  expect(a.cols == b.rows, "matrix: [", a.rows, ", ", a.cols, "] times [", b.rows, ", ", b.cols, "]");
  Matrix out(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k) {
      double const x = a(i, k);
      if (x == 0) continue;
      for (int j = 0; j < b.cols; ++j) out(i, j) += x * b(k, j);
    }
  return out;
}

Matrix product_transposed(Matrix const& a, Matrix const& b) {
  expect(a.rows == b.rows, "matrix: [", a.rows, ", ", a.cols, "]^T times [", b.rows, ", ", b.cols, "]");
  Matrix out(a.cols, b.cols);
  for (int k = 0; k < a.rows; ++k)
    for (int i = 0; i < a.cols; ++i) {
      double const x = a(k, i);
      if (x == 0) continue;
      for (int j = 0; j < b.cols; ++j) out(i, j) += x * b(k, j);
    }
  return out;
}

Matrix transposed(Matrix const& a) {
  Matrix out(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) out(j, i) = a(i, j);
  return out;
}

Matrix difference(Matrix const& a, Matrix const& b) {
  expect(a.rows == b.rows && a.cols == b.cols, "matrix: [", a.rows, ", ", a.cols, "] minus [", b.rows, ", ", b.cols,
         "]");
  Matrix out = a;
  for (std::size_t n = 0; n < out.data.size(); ++n) out.data[n] -= b.data[n];
  return out;
}

double frobenius(Matrix const& a) {
  double sum = 0;
  for (double x : a.data) sum += x * x;
  return std::sqrt(sum);
}

double trace(Matrix const& a) {
  double sum = 0;
  for (int i = 0; i < std::min(a.rows, a.cols); ++i) sum += a(i, i);
  return sum;
}

std::vector<double> singular_values(Matrix a) {
  a = a.rows < a.cols ? std::move(a) : transposed(a);  // rows are turned against one another: the shorter side
  auto const dot = [&](int p, int q) { return std::inner_product(a.row(p), a.row(p) + a.cols, a.row(q), 0.0); };
  bool turned = true;
  for (int sweep = 0; turned && sweep < 60; ++sweep) {
    turned = false;
    for (int p = 0; p < a.rows; ++p)
      for (int q = p + 1; q < a.rows; ++q) {
        double const pp = dot(p, p), qq = dot(q, q), pq = dot(p, q);
        if (std::abs(pq) <= 1e-15 * std::sqrt(pp * qq)) continue;
        turned = true;
        double const zeta = (qq - pp) / (2 * pq);
        double const t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
        double const c = 1 / std::hypot(1.0, t), s = c * t;
        for (int j = 0; j < a.cols; ++j) {
          double const x = a(p, j), y = a(q, j);
          a(p, j) = c * x - s * y;
          a(q, j) = s * x + c * y;
        }
      }
  }
  std::vector<double> out(a.rows);
  for (int p = 0; p < a.rows; ++p) out[p] = std::sqrt(dot(p, p));
  std::sort(out.rbegin(), out.rend());
  return out;
}

namespace {
using Complex = std::complex<double>;

struct Hessenberg {
  int n;
  std::vector<Complex> data;
  Complex& operator()(int r, int c) { return data[static_cast<std::size_t>(r) * n + c]; }
};

// Stabilised elementary similarity transformations: zeros below the first subdiagonal, eigenvalues kept.
Hessenberg hessenberg(Matrix a) {
  int const n = a.rows;
  for (int m = 1; m + 1 < n; ++m) {
    int best = m;
    for (int i = m; i < n; ++i)
      if (std::abs(a(i, m - 1)) > std::abs(a(best, m - 1))) best = i;
    double const pivot = a(best, m - 1);
    if (pivot == 0) continue;
    if (best != m) {
      for (int j = 0; j < n; ++j) std::swap(a(best, j), a(m, j));
      for (int i = 0; i < n; ++i) std::swap(a(i, best), a(i, m));
    }
    for (int i = m + 1; i < n; ++i) {
      double const factor = a(i, m - 1) / pivot;
      if (factor == 0) continue;
      for (int j = 0; j < n; ++j) a(i, j) -= factor * a(m, j);
      for (int j = 0; j < n; ++j) a(j, m) += factor * a(j, i);
    }
  }
  Hessenberg h{n, std::vector<Complex>(a.data.size())};
  for (int i = 0; i < n; ++i)
    for (int j = std::max(0, i - 1); j < n; ++j) h(i, j) = a(i, j);
  return h;
}

// The eigenvalue of the last 2 x 2 block that is nearer to its last entry.
Complex wilkinson_shift(Hessenberg& h, int last) {
  Complex const a = h(last - 1, last - 1), b = h(last - 1, last), c = h(last, last - 1), d = h(last, last);
  Complex const half = 0.5 * (a - d), root = std::sqrt(half * half + b * c);
  Complex const mean = 0.5 * (a + d);
  return std::abs(mean + root - d) < std::abs(mean - root - d) ? mean + root : mean - root;
}

// One QR step on rows and columns [first, last] with Givens rotations.
void qr_step(Hessenberg& h, int first, int last, Complex shift) {
  struct Givens {
    Complex c, s;
  };
  std::vector<Givens> turns;
  for (int i = first; i <= last; ++i) h(i, i) -= shift;
  for (int i = first; i < last; ++i) {
    Complex const x = h(i, i), y = h(i + 1, i);
    double const norm = std::hypot(std::abs(x), std::abs(y));
    Givens const g = norm == 0 ? Givens{1, 0} : Givens{x / norm, y / norm};
    turns.push_back(g);
    for (int j = i; j <= last; ++j) {
      Complex const u = h(i, j), v = h(i + 1, j);
      h(i, j) = std::conj(g.c) * u + std::conj(g.s) * v;
      h(i + 1, j) = -g.s * u + g.c * v;
    }
  }
  for (int i = first; i < last; ++i) {
    Givens const g = turns[static_cast<std::size_t>(i - first)];
    for (int j = first; j <= std::min(i + 1, last); ++j) {
      Complex const u = h(j, i), v = h(j, i + 1);
      h(j, i) = u * g.c + v * g.s;
      h(j, i + 1) = -u * std::conj(g.s) + v * std::conj(g.c);
    }
  }
  for (int i = first; i <= last; ++i) h(i, i) += shift;
}
}  // namespace

std::vector<Complex> eigenvalues(Matrix const& a) {
  expect(a.rows == a.cols, "eigenvalues: the matrix is [", a.rows, ", ", a.cols, "], expected a square one");
  Hessenberg h = hessenberg(a);
  double const scale = std::max(frobenius(a), 1e-300);
  std::vector<Complex> out;
  int last = a.rows - 1, steps = 0;
  while (last >= 0) {
    int first = last;
    while (first > 0) {
      double const beside = std::abs(h(first, first)) + std::abs(h(first - 1, first - 1));
      if (std::abs(h(first, first - 1)) <= 1e-16 * (beside > 0 ? beside : scale)) break;
      --first;
    }
    if (first == last) {
      out.push_back(h(last, last));
      --last;
      steps = 0;
      continue;
    }
    expect(++steps < 500, "eigenvalues: no convergence for eigenvalue ", last + 1, " of ", a.rows);
    bool const stuck = steps % 20 == 0;  // a cycle: an arbitrary shift breaks it
    qr_step(h, first, last, stuck ? Complex(std::abs(h(last, last - 1)), scale * 1e-3) : wilkinson_shift(h, last));
  }
  std::sort(out.begin(), out.end(), [](Complex x, Complex y) {
    double const size_x = std::abs(x), size_y = std::abs(y);
    return size_x != size_y ? size_x > size_y : x.imag() > y.imag();
  });
  return out;
}

Matrix fit(Matrix const& x, Matrix const& y, double ridge) {
  Matrix gram = product_transposed(x, x);
  double const extra = ridge * trace(gram);
  int const n = gram.rows;
  for (int i = 0; i < n; ++i) gram(i, i) += extra;
  for (int k = 0; k < n; ++k) {  // L in the lower triangle
    for (int j = 0; j < k; ++j) gram(k, k) -= gram(k, j) * gram(k, j);
    expect(gram(k, k) > 0, "fit: the rows span too few directions; a larger ridge than ", ridge, " is needed");
    gram(k, k) = std::sqrt(gram(k, k));
    for (int i = k + 1; i < n; ++i) {
      for (int j = 0; j < k; ++j) gram(i, k) -= gram(i, j) * gram(k, j);
      gram(i, k) /= gram(k, k);
    }
  }
  Matrix out = product_transposed(x, y);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k)
      for (int j = 0; j < out.cols; ++j) out(i, j) -= gram(i, k) * out(k, j);
    for (int j = 0; j < out.cols; ++j) out(i, j) /= gram(i, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      for (int j = 0; j < out.cols; ++j) out(i, j) -= gram(k, i) * out(k, j);
    for (int j = 0; j < out.cols; ++j) out(i, j) /= gram(i, i);
  }
  return out;
}

double effective_rank(std::vector<double> const& singular) {
  double const sum = std::accumulate(singular.begin(), singular.end(), 0.0);
  double entropy = 0;
  for (double s : singular)
    if (s > 0) entropy -= s / sum * std::log(s / sum);
  return sum > 0 ? std::exp(entropy) : 0;
}

}  // namespace sextant::inspect
