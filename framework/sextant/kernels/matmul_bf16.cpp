// Products of bf16 operands with sums in float: oneDNN's bf16 primitives where the CPU has the arithmetic, else float
// products of widened blocks. Both multiply exactly; they differ in the order of the sums alone.
#include <sextant/base/launch.hpp>
#include <sextant/kernels/matmul_bf16_native.hpp>
#include <sextant/kernels/matmul_blocks.hpp>
#include <sextant/kernels/matmul_team.hpp>

namespace sextant::kernels {
namespace {
using blocks::Block;
using blocks::Size;

float value(float x) { return round_to_bf16(x); }
float value(BFloat16 x) { return to_float(x); }

/// Memory for op(x) [rows, cols], filled by fill(rows, cols, data) in x's own order.
template <class To, class Fill>
Block<To const> converted(Op op, int rows, int cols, std::vector<To>& memory, Fill const& fill) {
  if (op == Op::transposed) std::swap(rows, cols);
  memory.resize(static_cast<std::size_t>(rows) * cols);
  fill(rows, cols, memory.data());
  return {memory.data(), cols};
}

template <class X>
Block<float const> widened(Block<X const> x, Op op, int rows, int cols, std::vector<float>& memory) {
  return converted(op, rows, cols, memory, [x](int own_rows, int own_cols, float* to) {
    for (int i = 0; i < own_rows; ++i)
      for (int j = 0; j < own_cols; ++j) *to++ = value(x.data[static_cast<std::size_t>(i) * x.stride + j]);
  });
}

Block<BFloat16 const> rounded(Block<float const> x, Op op, int rows, int cols, std::vector<BFloat16>& memory) {
  return converted(op, rows, cols, memory,
                   [x](int own_rows, int own_cols, BFloat16* to) { blocks::round_to_bf16(x, own_rows, own_cols, to); });
}

template <class B>
void multiply_widened(Size n, Block<float const> a, Op op_a, Block<B const> b, Op op_b, Block<float> c, Into into) {
  thread_local std::vector<float> left, right;
  blocks::multiply(n, widened(a, op_a, n.rows, n.terms, left), op_a, widened(b, op_b, n.terms, n.cols, right), op_b, c,
                   into);
}

template <class B>
void multiply_native(Size n, Block<float const> a, Op op_a, Block<B const> b, Op op_b, Block<float> c, Into into) {
  thread_local std::vector<BFloat16> left, right;
  auto const rounded_a = rounded(a, op_a, n.rows, n.terms, left);
  if constexpr (std::is_same_v<B, BFloat16>)
    blocks::multiply_bf16(n, rounded_a, op_a, b, op_b, c, into);
  else
    blocks::multiply_bf16(n, rounded_a, op_a, rounded(b, op_b, n.terms, n.cols, right), op_b, c, into);
}
}  // namespace

template <class B>
void matmul_bf16(Exec const& exec, Matrix<float const> const& a, Op op_a, Matrix<B const> const& b, Op op_b,
                 Matrix<float> const& c, Into into) {
  if constexpr (!on_host) return team::matmul<float, B>(exec, a, op_a, b, op_b, c, into, Precision::bf16);
  auto const multiply = [](Size n, Block<float const> left, Op op_left, Block<B const> right, Op op_right,
                           Block<float> out, Into how) {
    (blocks::has_bf16() ? multiply_native<B> : multiply_widened<B>)(n, left, op_left, right, op_right, out, how);
  };
  blocks::matmul(exec, a, op_a, b, op_b, c, into, multiply);
}

void matmul_few_bf16(Exec const& exec, Matrix<float const> const& a, Matrix<BFloat16 const> const& b,
                     Matrix<float> const& c) {
  if constexpr (!on_host)
    return team::matmul<float, BFloat16>(exec, a, Op::plain, b, Op::transposed, c, Into::overwrite, Precision::bf16);
  blocks::matmul_few(exec, a, b, c, few::lay_out_rounded);
}

void round_all_to_bf16(Exec const& exec, View1<float const> const& x, View1<BFloat16> const& to) {
  expect(x.extent(0) == to.extent(0), "round_all_to_bf16: ", x.extent(0), " numbers into ", to.extent(0));
  constexpr std::int64_t part = 4096;
  auto const count = static_cast<std::int64_t>(x.extent(0));
  launch(
      exec, "sextant::round_to_bf16", blocks_of(count, part), part, KOKKOS_LAMBDA(std::int64_t n) {
        for (std::int64_t i = n * part; i < count && i < (n + 1) * part; ++i) to(i) = to_bfloat16(x(i));
      });
}

void round_heads_to_bf16(Exec const& exec, Heads<float> const& x) {
  int const heads = x.extent_int(1), len = x.extent_int(2), dim = x.extent_int(3);
  launch(
      exec, "sextant::round_heads", std::int64_t(x.extent_int(0)) * len, std::int64_t(heads) * dim,
      KOKKOS_LAMBDA(std::int64_t token) {
        for (int h = 0; h < heads; ++h) {
          float* const row = &x(static_cast<int>(token / len), h, static_cast<int>(token % len), 0);
          for (int c = 0; c < dim; ++c) row[c] = round_to_bf16(row[c]);
        }
      });
}

template void matmul_bf16(Exec const&, Matrix<float const> const&, Op, Matrix<float const> const&, Op,
                          Matrix<float> const&, Into);
template void matmul_bf16(Exec const&, Matrix<float const> const&, Op, Matrix<BFloat16 const> const&, Op,
                          Matrix<float> const&, Into);

}  // namespace sextant::kernels

namespace sextant::reference {

template <class B>
void matmul_bf16(kernels::Matrix<float const> const& a, kernels::Op op_a, kernels::Matrix<B const> const& b,
                 kernels::Op op_b, kernels::Matrix<float> const& c, kernels::Into into) {
  auto const rounded = [](auto const& x, char const* label) {
    View2<float> const out(uninitialized(label), x.extent(0), x.extent(1));
    for (int i = 0; i < x.extent_int(0); ++i)
      for (int j = 0; j < x.extent_int(1); ++j) out(i, j) = kernels::value(x(i, j));
    return kernels::Matrix<float const>(out);
  };
  matmul<float>(rounded(a, "a"), op_a, rounded(b, "b"), op_b, c, into);
}
template void matmul_bf16(kernels::Matrix<float const> const&, kernels::Op, kernels::Matrix<float const> const&,
                          kernels::Op, kernels::Matrix<float> const&, kernels::Into);
template void matmul_bf16(kernels::Matrix<float const> const&, kernels::Op, kernels::Matrix<BFloat16 const> const&,
                          kernels::Op, kernels::Matrix<float> const&, kernels::Into);

}  // namespace sextant::reference
