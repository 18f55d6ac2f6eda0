// Matrix products by teams, a device's path, on a host space: against the plain loops.
#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul_team.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>
#include <support/complaint.hpp>
#include <support/on_threads.hpp>

using namespace sextant;
using kernels::Into;
using kernels::Matrix;
using kernels::Op;
using kernels::Precision;

namespace matmul_team_test {
namespace {
template <class T>
View2<T> of_op(std::string const& name, int rows, int cols, Op op) {
  return op == Op::plain ? test::random2<T>(name, rows, cols) : test::random2<T>(name, cols, rows);
}
}  // namespace

TEMPLATE_TEST_CASE("team matmul: every shape, transposition and accumulation equals the plain loop",
                   "[matmul][team][reference]", float, double) {
  double const unit = std::is_same_v<TestType, float> ? 0x1p-24 : 0x1p-53;
  struct {
    int m, n, k;
  } const shapes[] = {{1, 1, 1},     {1, 17, 5},   {33, 65, 31},  {64, 64, 32},
                      {97, 33, 100}, {5, 600, 64}, {13, 7, 2100}, {3, 2, 0}};
  for (auto const [m, n, k] : shapes)
    for (Op const op_a : {Op::plain, Op::transposed})
      for (Op const op_b : {Op::plain, Op::transposed})
        for (Into const into : {Into::overwrite, Into::add}) {
          auto const a = of_op<TestType>("a", m, k, op_a), b = of_op<TestType>("b", k, n, op_b);
          auto const found = test::random2<TestType>("c", m, n), expected = test::random2<TestType>("c", m, n);
          kernels::team::matmul<TestType, TestType>(Exec(), a, op_a, b, op_b, found, into);
          Exec().fence();
          reference::matmul<TestType>(a, op_a, b, op_b, expected, into);
          INFO(m << " x " << n << " x " << k << (op_a == Op::plain ? " N" : " T") << (op_b == Op::plain ? "N" : "T"));
          CHECK(test::largest_difference(found, expected) <= test::product_bound(k, unit));
        }
}

TEST_CASE("team matmul: bf16 rounds both operands, stored so or not", "[matmul][team][bf16]") {
  auto const a = test::random2<float>("a", 70, 90), b = test::random2<float>("b", 40, 90);
  View2<BFloat16> const stored("stored", 40, 90);
  kernels::round_all_to_bf16(Exec(), View1<float const>(b.data(), b.size()), View1<BFloat16>(stored.data(), b.size()));
  View2<float> const expected("expected", 70, 40), found("found", 70, 40), from_stored("from stored", 70, 40);
  reference::matmul_bf16<float>(a, Op::plain, b, Op::transposed, expected);
  kernels::team::matmul<float, float>(Exec(), a, Op::plain, b, Op::transposed, found, Into::overwrite, Precision::bf16);
  kernels::team::matmul<float, BFloat16>(Exec(), a, Op::plain, stored, Op::transposed, from_stored, Into::overwrite,
                                         Precision::bf16);
  Exec().fence();
  CHECK(test::largest_difference(found, expected) <= test::product_bound(90, 0x1p-24));
  CHECK(test::same_bits(found, from_stored));
}

TEST_CASE("team matmul: large tiles and small ones, one thread a team or more, alone or beside others: the same bits",
          "[matmul][team][determinism]") {
  int const rows = 1040, cols = 1030, terms = 70;  // large tiles
  auto const a = test::random2<float>("a", rows, terms), b = test::random2<float>("b", terms, cols);
  View2<float> const whole("whole", rows, cols), part("part", 40, cols), wide("wide teams", 40, cols);
  auto const first = Matrix<float const>(a.data(), Kokkos::LayoutStride(40, terms, terms, 1));
  kernels::team::matmul<float, float>(Exec(), a, Op::plain, b, Op::plain, whole, Into::overwrite);
  kernels::team::matmul<float, float>(Exec(), first, Op::plain, b, Op::plain, part, Into::overwrite, Precision::fp32,
                                      1);
  kernels::team::matmul<float, float>(Exec(), first, Op::plain, b, Op::plain, wide, Into::overwrite, Precision::fp32,
                                      std::min(2, concurrency()));
  Exec().fence();
  CHECK(test::same_bits(part, View2<float>(whole.data(), 40, cols)));
  CHECK(test::same_bits(part, wide));
}

TEST_CASE("team matmul: reads and writes blocks of wider matrices and nothing beside them", "[matmul][team]") {
  auto const a = test::random2<float>("wide a", 30, 50), b = test::random2<float>("wide b", 20, 60);
  View2<float> const c("c", 30, 40), expected("expected", 30, 10);
  Kokkos::deep_copy(c, 7.0f);
  auto const inside = [](View2<float> const& x, int rows, int cols) {
    return Matrix<float>(x.data() + 3, Kokkos::LayoutStride(rows, x.extent(1), cols, 1));
  };
  kernels::team::matmul<float, float>(Exec(), inside(a, 30, 20), Op::plain, inside(b, 20, 10), Op::plain,
                                      inside(c, 30, 10), Into::overwrite);
  Exec().fence();
  reference::matmul<float>(inside(a, 30, 20), Op::plain, inside(b, 20, 10), Op::plain, expected);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j) CHECK(std::abs(c(i, j) - (j >= 3 && j < 13 ? expected(i, j - 3) : 7.0f)) <= 1e-5f);
}

TEST_CASE("team matmul: shapes that disagree are refused", "[matmul][team][error]") {
  View2<float> const a("a", 3, 4), b("b", 5, 6), c("c", 3, 6);
  CHECK(test::complaint([&] {
          kernels::team::matmul<float, float>(Exec(), a, Op::plain, b, Op::plain, c, Into::overwrite);
        }) == "matmul: op(a) is [3, 4], op(b) is [5, 6] and c is [3, 6], expected [m, k], [k, n] and [m, n]");
}
}  // namespace matmul_team_test
