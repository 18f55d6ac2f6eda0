// Dense matrix products: the one interface between Sextant and a BLAS.
#pragma once
#include <sextant/base/bfloat16.hpp>
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/few_rows.hpp>
#include <sextant/kernels/matmul_operands.hpp>
#include <sextant/kernels/precision.hpp>

namespace sextant::kernels {

/// Row-major with any distance between rows; columns are contiguous. A View2 converts to it.
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutStride, Memory>;

/// Sees contiguous memory as [rows, cols].
template <class T>
Matrix<T> as_matrix(T* data, int rows, int cols) {
  return Matrix<T>(data, Kokkos::LayoutStride(rows, static_cast<std::size_t>(cols), cols, 1));
}

/// c = op(a) op(b), or c += op(a) op(b).
///   op(a) [m, k]   op(b) [k, n]   c [m, n]
/// Same bits for any number of threads: c is cut into blocks whose size depends on the shapes alone, each block is one
/// single-threaded call, and a transposed `a` (a weight's gradient, where k counts tokens) is also cut along k into
/// runs of 1024 that are added in order. With a plain `a`, a row of c does not depend on how many rows stand beside it.
/// T is float (oneDNN) or double (plain loops, for gradient checks). A device multiplies by matmul_team.hpp, and does not wait.
/// Throws Error naming the shapes that disagree.
template <class T>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<T const> const& b, Op op_b, Matrix<T> const& c,
            Into into = Into::overwrite);

/// c = a b^T for at most few_rows rows of a, as a token decoded alone has: bound by reading b. Sums run in other order than
/// matmul's, the same for every row and any number of rows and threads.
///   a [rows, k]   b [n, k]   c [rows, n]
template <class T>
void matmul_few(Exec const& exec, Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c);

/// matmul of operands that are rounded to bf16, nearest and ties to even, with products and sums in float. B is float, or
/// BFloat16 where b is stored so and half the bytes are read. A CPU with bf16 arithmetic (AVX512_BF16) uses it; elsewhere
/// a block of operands at a time is widened to float, in which products of two bf16 numbers are exact. Same bits for any
/// number of threads, and of a row whatever stands beside it, as matmul.
template <class B>
void matmul_bf16(Exec const& exec, Matrix<float const> const& a, Op op_a, Matrix<B const> const& b, Op op_b,
                 Matrix<float> const& c, Into into = Into::overwrite);

/// matmul_few of operands that are rounded to bf16; reads half the bytes.
void matmul_few_bf16(Exec const& exec, Matrix<float const> const& a, Matrix<BFloat16 const> const& b,
                     Matrix<float> const& c);

/// to[i] = x[i] rounded to bf16.
void round_all_to_bf16(Exec const& exec, View1<float const> const& x, View1<BFloat16> const& to);

/// x [batch, heads, seq_len, head_dim] rounded to bf16 in place: attention of rounded operands sums in float.
void round_heads_to_bf16(Exec const& exec, Heads<float> const& x);

}  // namespace sextant::kernels

namespace sextant::reference {

/// The definition: every entry summed from k = 0 upwards in double.
template <class T>
void matmul(kernels::Matrix<T const> const& a, kernels::Op op_a, kernels::Matrix<T const> const& b, kernels::Op op_b,
            kernels::Matrix<T> const& c, kernels::Into into = kernels::Into::overwrite);

/// The definition: operands rounded to bf16, every entry summed from k = 0 upwards in double.
template <class B>
void matmul_bf16(kernels::Matrix<float const> const& a, kernels::Op op_a, kernels::Matrix<B const> const& b,
                 kernels::Op op_b, kernels::Matrix<float> const& c, kernels::Into into = kernels::Into::overwrite);

}  // namespace sextant::reference
