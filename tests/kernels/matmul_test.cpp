#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>
#include <support/on_threads.hpp>

using namespace sextant;
using kernels::Into;
using kernels::Matrix;
using kernels::Op;

namespace {
// Operands of op(a)[m, k] op(b)[k, n], and an output that already holds something.
template <class T>
struct Product {
  Op op_a, op_b;
  View2<T> a, b, c;
  Product(int m, int n, int k, Op left, Op right)
      : op_a(left),
        op_b(right),
        a(left == Op::plain ? test::random2<T>("a", m, k) : test::random2<T>("a", k, m)),
        b(right == Op::plain ? test::random2<T>("b", k, n) : test::random2<T>("b", n, k)),
        c(test::random2<T>("c", m, n)) {}
  void run(Into into) { kernels::matmul<T>(Exec(), a, op_a, b, op_b, c, into); }
};

}  // namespace

TEMPLATE_TEST_CASE("matmul: every shape, transposition and accumulation equals the plain loop", "[matmul][reference]",
                   float, double) {
  double const unit = std::is_same_v<TestType, float> ? 0x1p-24 : 0x1p-53;
  struct {
    int m, n, k;
  } const shapes[] = {{1, 1, 1},      {1, 17, 5},   {24, 16, 8},   {97, 33, 12},
                      {200, 530, 31}, {5, 600, 64}, {13, 7, 2100}, {300, 40, 1025}};
  for (auto const [m, n, k] : shapes)
    for (Op const op_a : {Op::plain, Op::transposed})
      for (Op const op_b : {Op::plain, Op::transposed})
        for (Into const into : {Into::overwrite, Into::add}) {
          Product<TestType> fast(m, n, k, op_a, op_b), plain(m, n, k, op_a, op_b);
          fast.run(into);
          reference::matmul<TestType>(plain.a, op_a, plain.b, op_b, plain.c, into);
          INFO(m << " x " << n << " x " << k << (op_a == Op::plain ? " N" : " T") << (op_b == Op::plain ? "N" : "T"));
          CHECK(test::largest_difference(fast.c, plain.c) <= test::product_bound(k, unit));
        }
}

TEMPLATE_TEST_CASE("matmul: products of few rows equal the plain loop, each row whatever stands beside it",
                   "[matmul][reference][few]", float, double) {
  double const unit = std::is_same_v<TestType, float> ? 0x1p-24 : 0x1p-53;
  for (int const n : {1, 31, 530})
    for (int const k : {1, 576, 1025}) {
      Product<TestType> six(6, n, k, Op::plain, Op::transposed), plain(6, n, k, Op::plain, Op::transposed);
      kernels::matmul_few<TestType>(Exec(), six.a, six.b, six.c);
      reference::matmul<TestType>(plain.a, Op::plain, plain.b, Op::transposed, plain.c);
      INFO(n << " columns, " << k << " terms");
      CHECK(test::largest_difference(six.c, plain.c) <= test::product_bound(k, unit));
      for (int rows = 1; rows < 6; ++rows) {  // the last ones of the six
        int const first = 6 - rows;
        View2<TestType> const part("part", rows, n), left(six.a.data() + first * k, rows, k);
        kernels::matmul_few<TestType>(Exec(), left, six.b, part);
        INFO(rows << " rows");
        CHECK(test::same_bits(part, View2<TestType>(six.c.data() + first * n, rows, n)));
      }
    }
  Product<TestType> seven(7, 3, 3, Op::plain, Op::transposed);
  CHECK_THROWS_WITH(kernels::matmul_few<TestType>(Exec(), seven.a, seven.b, seven.c),
                    "matmul_few: 7 rows, expected at most 6");
}

TEST_CASE("matmul: reads and writes blocks of wider matrices and nothing beside them", "[matmul]") {
  auto const a = test::random2<float>("wide a", 30, 50), b = test::random2<float>("wide b", 20, 60);
  View2<float> c("c", 30, 40);
  Kokkos::deep_copy(c, 7.0f);
  auto const inside = [](View2<float> const& x, int rows, int cols) {
    return Matrix<float>(x.data() + 3, Kokkos::LayoutStride(rows, x.extent(1), cols, 1));
  };
  kernels::matmul<float>(Exec(), inside(a, 30, 20), Op::plain, inside(b, 20, 10), Op::plain, inside(c, 30, 10));
  View2<float> expected("expected", 30, 10);
  reference::matmul<float>(inside(a, 30, 20), Op::plain, inside(b, 20, 10), Op::plain, expected);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) {
      bool const written = j >= 3 && j < 13;
      CHECK(std::abs(c(i, j) - (written ? expected(i, j - 3) : 7.0f)) <= 1e-5f);
    }
}

TEST_CASE("matmul: a row's product is the same bits alone and among others", "[matmul][determinism]") {
  for (Op const op_b : {Op::plain, Op::transposed}) {
    Product<float> whole(300, 130, 128, Op::plain, op_b);
    whole.run(Into::overwrite);
    for (int rows : {1, 2, 7, 24, 95, 96, 97, 255})
      for (int first : {0, 1, 45}) {
        View2<float> part("part", rows, 130);
        Matrix<float const> const a(&whole.a(first, 0), Kokkos::LayoutStride(rows, 128, 128, 1));
        kernels::matmul<float>(Exec(), a, Op::plain, whole.b, op_b, part);
        bool same = true;
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < 130; ++j) same = same && part(i, j) == whole.c(first + i, j);
        INFO(rows << " rows from " << first);
        CHECK(same);
      }
  }
}

TEST_CASE("matmul digest, printed for the test on threads", "[.][matmul-digest]") {
  struct {
    int m, n, k;
    Op op_a, op_b;
  } const shapes[] = {{1000, 384, 128, Op::plain, Op::transposed},
                      {777, 688, 96, Op::plain, Op::plain},
                      {384, 128, 4096, Op::transposed, Op::plain}};
  test::Digest digest;
  for (auto const& s : shapes)
    for (Into const into : {Into::overwrite, Into::add}) {
      Product<float> product(s.m, s.n, s.k, s.op_a, s.op_b);
      product.run(into);
      digest.add(product.c);
    }
  digest.print();
}

TEST_CASE("matmul: one, two and four threads give the same bits", "[matmul][determinism]") {
  auto const digests = test::digests_on_threads("[matmul-digest]", {1, 2, 4});
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] == digests[2]);
}

TEST_CASE("matmul: shapes that disagree are named", "[matmul][error]") {
  auto const a = test::random2<float>("a", 3, 4), b = test::random2<float>("b", 5, 6),
             c = test::random2<float>("c", 3, 6);
  CHECK_THROWS_WITH(kernels::matmul<float>(Exec(), a, Op::plain, b, Op::plain, c),
                    "matmul: op(a) is [3, 4], op(b) is [5, 6] and c is [3, 6], expected [m, k], [k, n] and [m, n]");
}
