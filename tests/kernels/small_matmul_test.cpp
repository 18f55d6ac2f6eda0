// The strip's small products against three loops, at every edge: sizes that divide nothing, wide strides, NaN around.
#include <catch2/catch_all.hpp>
#include <sextant/kernels/small_matmul.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace sextant {
namespace {
template <class T>
struct Matrix {
  int rows, cols, stride;
  std::vector<T> data;
  Matrix(int rows_, int cols_, int seed, int pad = 3)
      : rows(rows_),
        cols(cols_),
        stride(cols_ + pad),
        data(static_cast<std::size_t>(rows_) * stride, std::numeric_limits<T>::quiet_NaN()) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) at(i, j) = static_cast<T>(std::sin(seed + 1.7 * i + 0.31 * j * (i + 1)));
  }
  T& at(int i, int j) { return data[static_cast<std::size_t>(i) * stride + j]; }
};

/// Largest error of c against alpha * sum(k) left(i, k) right(k, j) (+ before), and NaN if it wrote outside.
template <class T>
double error(Matrix<T>& c, Matrix<T> before, int depth, double alpha, bool add, std::function<double(int, int)> left,
             std::function<double(int, int)> right) {
  double worst = 0;
  for (int i = 0; i < c.rows; ++i) {
    for (int j = 0; j < c.cols; ++j) {
      double sum = add ? static_cast<double>(before.at(i, j)) : 0;
      for (int k = 0; k < depth; ++k) sum += alpha * left(i, k) * right(k, j);
      double const off = std::abs(static_cast<double>(c.at(i, j)) - sum);
      worst = off <= worst ? worst : off;  // NaN stays
    }
    for (int j = c.cols; j < c.stride; ++j)
      if (!std::isnan(c.data[static_cast<std::size_t>(i) * c.stride + j])) return NAN;
  }
  return worst;
}
}  // namespace

TEMPLATE_TEST_CASE("small matrix products equal three loops at every size, and write nothing beside", "[small_matmul]",
                   float, double) {
  using T = TestType;
  double const bound = sizeof(T) == 4 ? 4e-5 : 1e-13;
  struct Size {
    int rows, cols, depth;
  };
  for (Size const s : {Size{1, 1, 1}, Size{1, 130, 64}, Size{6, 33, 7}, Size{7, 33, 7}, Size{24, 64, 64},
                       Size{13, 5, 300}, Size{97, 17, 129}, Size{200, 40, 24}, Size{3, 8, 0}, Size{8, 3, 0}})
    for (bool const add : {false, true}) {
      CAPTURE(s.rows, s.cols, s.depth, add);
      T const alpha = T(0.75);
      Matrix<T> a(s.rows, s.depth, 1), at(s.depth, s.rows, 2), b(s.depth, s.cols, 3), bt(s.cols, s.depth, 4);
      Matrix<T> const before(s.rows, s.cols, 5);
      auto const left = [&](int i, int k) { return static_cast<double>(a.at(i, k)); };
      auto const right = [&](int k, int j) { return static_cast<double>(b.at(k, j)); };
      auto c = before;
      kernels::small_nn(a.data.data(), a.stride, s.rows, b.data.data(), b.stride, s.cols, s.depth, alpha, c.data.data(),
                        c.stride, add);
      CHECK(error<T>(c, before, s.depth, alpha, add, left, right) < bound);
      c = before;
      kernels::small_nt(a.data.data(), a.stride, s.rows, bt.data.data(), bt.stride, s.cols, s.depth, alpha,
                        c.data.data(), c.stride, add);
      CHECK(error<T>(c, before, s.depth, alpha, add, left,
                     [&](int k, int j) { return static_cast<double>(bt.at(j, k)); }) < bound);
      c = before;
      kernels::small_tn(at.data.data(), at.stride, s.rows, b.data.data(), b.stride, s.cols, s.depth, alpha,
                        c.data.data(), c.stride, add);
      CHECK(error<T>(
                c, before, s.depth, alpha, add, [&](int i, int k) { return static_cast<double>(at.at(k, i)); }, right) <
            bound);
    }
}

}  // namespace sextant
