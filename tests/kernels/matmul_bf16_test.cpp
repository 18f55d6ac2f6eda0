#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/kernels/matmul_bf16_native.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>
#include <support/on_threads.hpp>

#include <array>
#include <cmath>
#include <limits>

using namespace sextant;
using kernels::Into;
using kernels::Matrix;
using kernels::Op;

namespace matmul_bf16_test {
namespace {
View2<BFloat16> stored(View2<float> const& x) {
  View2<BFloat16> const out("stored", x.extent(0), x.extent(1));
  kernels::round_all_to_bf16(Exec(), View1<float const>(x.data(), x.size()), View1<BFloat16>(out.data(), out.size()));
  return out;
}

// Operands of op(a)[m, k] op(b)[k, n], and an output that already holds something.
struct Product {
  Op op_a, op_b;
  View2<float> a, b, c;
  View2<BFloat16> narrow;
  Product(int m, int n, int k, Op left, Op right)
      : op_a(left),
        op_b(right),
        a(left == Op::plain ? test::random2<float>("a", m, k) : test::random2<float>("a", k, m)),
        b(right == Op::plain ? test::random2<float>("b", k, n) : test::random2<float>("b", n, k)),
        c(test::random2<float>("c", m, n)),
        narrow(stored(b)) {}
  void run(Into into) { kernels::matmul_bf16<BFloat16>(Exec(), a, op_a, narrow, op_b, c, into); }
  void run_unstored(Into into) { kernels::matmul_bf16<float>(Exec(), a, op_a, b, op_b, c, into); }
  void define(Into into) { reference::matmul_bf16<float>(a, op_a, b, op_b, c, into); }
};

// Rounded operands multiply exactly in float: what is left is the rounding of k sums of normal products.
double bound(int k) { return 8 * 0x1p-24 * std::sqrt(static_cast<double>(k)) * std::log2(k + 2.0); }
}  // namespace

TEST_CASE("bf16: rounds to the nearest, ties to even, and keeps what it can hold", "[matmul][bf16]") {
  CHECK(round_to_bf16(1.0f + 0x1p-8f) == 1.0f);  // halfway: to the even 1
  CHECK(round_to_bf16(1.0f + 0x1p-8f + 0x1p-20f) == 1.0f + 0x1p-7f);
  CHECK(round_to_bf16(1.0f + 3 * 0x1p-8f) == 1.0f + 0x1p-6f);  // halfway: up to the even one
  CHECK(round_to_bf16(-1.0f - 0x1p-8f) == -1.0f);
  CHECK(std::signbit(round_to_bf16(-0.0f)));
  CHECK(round_to_bf16(std::numeric_limits<float>::max()) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(round_to_bf16(std::bit_cast<float>(0x7F800001u))));  // whose upper half alone is infinity
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    BFloat16 const x{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(to_float(x)) && to_bfloat16(to_float(x)) != x) FAIL(bits);
  }
}

TEST_CASE("bf16: a block of floats is rounded as each number alone, whatever its width and stride", "[matmul][bf16]") {
  float const least = std::numeric_limits<float>::min(), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {0.0f,    -0.0f,    1.0f,      1.00390625f, 1.01171875f, -1.00390625f,
                          3.4e38f, infinity, -infinity, least,       1e-39f,      -1e-45f};
  Stream const stream(3, "round");
  for (std::uint64_t k = 0; k < 400; ++k)
    x.push_back(static_cast<float>(std::ldexp(stream.uniform(k) - 0.5, static_cast<int>(k % 240) - 120)));
  for (auto const [rows, cols, stride] :
       {std::array{1, 412, 412}, {4, 103, 103}, {5, 65, 80}, {12, 33, 34}, {20, 7, 19}}) {
    std::vector<BFloat16> got(static_cast<std::size_t>(rows) * cols, BFloat16{0xABCD});
    kernels::blocks::round_to_bf16({x.data(), stride}, rows, cols, got.data());
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        float const from = x[static_cast<std::size_t>(i) * stride + j];
        BFloat16 const to = got[static_cast<std::size_t>(i) * cols + j];
        INFO(rows << " by " << cols << ": " << from << " became " << to_float(to));
        CHECK((to == to_bfloat16(from) || (std::abs(from) < least && to_float(to) == 0)));
      }
  }
  std::vector<float> const nan(64, std::numeric_limits<float>::quiet_NaN());
  std::vector<BFloat16> got(64);
  kernels::blocks::round_to_bf16({nan.data(), 64}, 1, 64, got.data());
  for (auto const y : got) CHECK(std::isnan(to_float(y)));
}

TEST_CASE("bf16: every shape, transposition and accumulation equals the rounded operands' sums in double",
          "[matmul][bf16][reference]") {
  struct {
    int m, n, k;
  } const shapes[] = {{1, 1, 1},      {1, 17, 5},   {24, 16, 8},   {97, 33, 12},
                      {200, 530, 31}, {5, 600, 64}, {13, 7, 2100}, {300, 40, 1025}};
  for (auto const [m, n, k] : shapes)
    for (Op const op_a : {Op::plain, Op::transposed})
      for (Op const op_b : {Op::plain, Op::transposed})
        for (Into const into : {Into::overwrite, Into::add}) {
          Product fast(m, n, k, op_a, op_b), unstored(m, n, k, op_a, op_b), plain(m, n, k, op_a, op_b);
          fast.run(into), unstored.run_unstored(into), plain.define(into);
          INFO(m << " x " << n << " x " << k << (op_a == Op::plain ? " N" : " T") << (op_b == Op::plain ? "N" : "T"));
          CHECK(test::largest_difference(fast.c, plain.c) <= bound(k));
          CHECK(test::same_bits(fast.c, unstored.c));
        }
}

TEST_CASE("bf16: the operands are rounded, both of them", "[matmul][bf16]") {
  View2<float> const a("a", 1, 1), b("b", 1, 1), c("c", 1, 1);
  a(0, 0) = 1.0f + 0x1p-8f, b(0, 0) = 1.0f + 3 * 0x1p-8f;
  kernels::matmul_bf16<float>(Exec(), a, Op::plain, b, Op::plain, c);
  CHECK(c(0, 0) == 1.0f + 0x1p-6f);
  kernels::matmul_few_bf16(Exec(), a, stored(b), c);
  CHECK(c(0, 0) == 1.0f + 0x1p-6f);
}

TEST_CASE("bf16: products of few rows equal the definition, each row whatever stands beside it",
          "[matmul][bf16][reference][few]") {
  for (int const n : {1, 31, 530})
    for (int const k : {1, 15, 17, 576, 1025}) {
      Product six(6, n, k, Op::plain, Op::transposed), plain(6, n, k, Op::plain, Op::transposed);
      kernels::matmul_few_bf16(Exec(), six.a, six.narrow, six.c);
      plain.define(Into::overwrite);
      INFO(n << " columns, " << k << " terms");
      CHECK(test::largest_difference(six.c, plain.c) <= bound(k));
      for (int rows = 1; rows < 6; ++rows) {  // the last ones of the six
        int const first = 6 - rows;
        View2<float> const part("part", rows, n), left(six.a.data() + first * k, rows, k);
        kernels::matmul_few_bf16(Exec(), left, six.narrow, part);
        INFO(rows << " rows");
        CHECK(test::same_bits(part, View2<float>(six.c.data() + first * n, rows, n)));
      }
    }
  Product seven(7, 3, 3, Op::plain, Op::transposed);
  CHECK_THROWS_WITH(kernels::matmul_few_bf16(Exec(), seven.a, seven.narrow, seven.c),
                    "matmul_few: 7 rows, expected at most 6");
}

TEST_CASE("bf16: a row's product is the same bits alone and among others", "[matmul][bf16][determinism]") {
  for (Op const op_b : {Op::plain, Op::transposed}) {
    Product whole(300, 130, 128, Op::plain, op_b);
    whole.run(Into::overwrite);
    for (int rows : {1, 7, 24, 95, 97, 255}) {
      View2<float> const part("part", rows, 130);
      Matrix<float const> const a(&whole.a(45, 0), Kokkos::LayoutStride(rows, 128, 128, 1));
      kernels::matmul_bf16<BFloat16>(Exec(), a, Op::plain, whole.narrow, op_b, part);
      INFO(rows << " rows");
      CHECK(test::same_bits(part, View2<float>(&whole.c(45, 0), rows, 130)));
    }
  }
}

TEST_CASE("bf16 digest, printed for the test on threads", "[.][bf16-digest]") {
  test::Digest digest;
  for (Into const into : {Into::overwrite, Into::add}) {
    Product forward(1000, 384, 128, Op::plain, Op::transposed), weight(384, 128, 4096, Op::transposed, Op::plain),
        few(3, 3000, 576, Op::plain, Op::transposed);
    forward.run(into), weight.run_unstored(into);
    kernels::matmul_few_bf16(Exec(), few.a, few.narrow, few.c);
    digest.add(forward.c), digest.add(weight.c), digest.add(few.c);
  }
  digest.print();
}

TEST_CASE("bf16: one, two and four threads give the same bits", "[matmul][bf16][determinism]") {
  auto const digests = test::digests_on_threads("[bf16-digest]", {1, 2, 4});
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] == digests[2]);
}
}  // namespace matmul_bf16_test
