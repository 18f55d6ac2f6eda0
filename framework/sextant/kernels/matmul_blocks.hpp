// How a matrix product is cut into calls of one thread: blocks that the shapes alone decide, whatever multiplies them.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/kernels/row_math.hpp>

#include <algorithm>
#include <vector>

namespace sextant::kernels::blocks {

inline constexpr int row_block = 96;      ///< a multiple of the rows of every register block that oneDNN has
inline constexpr int col_block = 512;     ///< columns of a block; wider outputs are cut
inline constexpr int sum_block = 1024;    ///< terms of one partial sum when a is transposed
inline constexpr int weight_block = 192;  ///< rows of a block of a weight's gradient

/// A block cut short is filled up with zero rows to a multiple of this, so that its rows meet the kernel that a full block
/// meets. oneDNN's AVX2 kernel treats 24, 48, 72 and 96 rows alike; with AVX-512 it chooses between two by the size.
inline int row_step() {
#if defined(__x86_64__)
  static int const step = __builtin_cpu_supports("avx512f") ? row_block : 24;
  return step;
#else
  return row_block;
#endif
}

template <class T>
Block<T> block_of(Matrix<T> const& m, Op op, int row, int col) {
  std::size_t const stride = m.stride(0);
  return {m.data() + (op == Op::plain ? row * stride + col : col * stride + row), static_cast<int>(stride)};
}

/// c = op(a) op(b), or c +=, in the calling thread alone: oneDNN for float, plain loops for double.
void multiply(Size n, Block<float const> a, Op op_a, Block<float const> b, Op op_b, Block<float> c, Into into);
void multiply(Size n, Block<double const> a, Op op_a, Block<double const> b, Op op_b, Block<double> c, Into into);

template <class F>
void for_tasks(Exec const& exec, char const* label, int tasks, F const& task) {
  HostExec const host = host_side(exec);
  if (tasks == 1) return task(0);
  Kokkos::RangePolicy<HostExec, Kokkos::Schedule<Kokkos::Dynamic>> policy(host, 0, tasks);
  policy.set_chunk_size(1);
  Kokkos::parallel_for(label, policy, task);
}

// A block with too few rows, between rows of zeros: so that its rows meet the same arithmetic as those of a full one.
template <class T, class B, class Multiply>
void multiply_short(Size n, Block<T const> a, Block<B const> b, Op op_b, Block<T> c, Into into,
                    Multiply const& multiply) {
  thread_local std::vector<T> a_rows, c_rows;
  int const rows = (n.rows + row_step() - 1) / row_step() * row_step();
  a_rows.assign(static_cast<std::size_t>(rows) * n.terms, T(0));
  c_rows.assign(static_cast<std::size_t>(rows) * n.cols, T(0));
  for (int i = 0; i < n.rows; ++i) {
    std::copy_n(a.data + static_cast<std::size_t>(i) * a.stride, n.terms,
                a_rows.data() + static_cast<std::size_t>(i) * n.terms);
    if (into == Into::add)
      std::copy_n(c.data + static_cast<std::size_t>(i) * c.stride, n.cols,
                  c_rows.data() + static_cast<std::size_t>(i) * n.cols);
  }
  multiply(Size{rows, n.cols, n.terms}, Block<T const>{a_rows.data(), n.terms}, Op::plain, b, op_b,
           Block<T>{c_rows.data(), n.cols}, into);
  for (int i = 0; i < n.rows; ++i)
    std::copy_n(c_rows.data() + static_cast<std::size_t>(i) * n.cols, n.cols,
                c.data + static_cast<std::size_t>(i) * c.stride);
}

/// Calls multiply(size, a, op_a, b, op_b, c, into) for the blocks of c; a is plain.
template <class T, class B, class Multiply>
void matmul_rows(Exec const& exec, Size n, Matrix<T const> const& a, Matrix<B const> const& b, Op op_b,
                 Matrix<T> const& c, Into into, Multiply const& multiply) {
  int const row_blocks = blocks_of(n.rows, row_block), col_blocks = blocks_of(n.cols, col_block);
  for_tasks(exec, "sextant::matmul", row_blocks * col_blocks, [=](int task) {
    int const row = task / col_blocks * row_block, col = task % col_blocks * col_block;
    Size const size{std::min(row_block, n.rows - row), std::min(col_block, n.cols - col), n.terms};
    auto const left = block_of(a, Op::plain, row, 0);
    auto const right = block_of(b, op_b, 0, col);
    auto const out = block_of(c, Op::plain, row, col);
    if (size.rows % row_step() == 0)
      multiply(size, left, Op::plain, right, op_b, out, into);
    else
      multiply_short(size, left, right, op_b, out, into, multiply);
  });
}

/// The same for a transposed `a`, which is also cut along the terms: partial sums are added in their order.
template <class T, class B, class Multiply>
void matmul_sums(Exec const& exec, Size n, Matrix<T const> const& a, Matrix<B const> const& b, Op op_b,
                 Matrix<T> const& c, Into into, Multiply const& multiply) {
  static thread_local std::vector<T> partial;
  int const row_blocks = blocks_of(n.rows, weight_block), col_blocks = blocks_of(n.cols, col_block);
  int const runs = std::max(1, blocks_of(n.terms, sum_block)), tiles = row_blocks * col_blocks;
  std::size_t const size = static_cast<std::size_t>(n.rows) * n.cols;
  if (runs > 1 && partial.size() < runs * size) partial.resize(runs * size);
  T* const part = partial.data();
  for_tasks(exec, "sextant::matmul_sums", tiles * runs, [=](int task) {
    int const run = task / tiles, row = task % tiles / col_blocks * weight_block, col = task % col_blocks * col_block;
    int const first = run * sum_block;
    Size const block{std::min(weight_block, n.rows - row), std::min(col_block, n.cols - col),
                     runs > 1 ? std::min(sum_block, n.terms - first) : n.terms};
    auto const left = block_of(a, Op::transposed, row, first);
    auto const right = block_of(b, op_b, first, col);
    if (runs == 1)
      multiply(block, left, Op::transposed, right, op_b, block_of(c, Op::plain, row, col), into);
    else
      multiply(block, left, Op::transposed, right, op_b,
               Block<T>{part + run * size + static_cast<std::size_t>(row) * n.cols + col, n.cols}, Into::overwrite);
  });
  if (runs == 1) return;
  Kokkos::parallel_for("sextant::matmul_add", Kokkos::RangePolicy<HostExec>(host_side(exec), 0, n.rows), [=](int i) {
    T* const out = c.data() + i * c.stride(0);
    T const* const first = part + static_cast<std::size_t>(i) * n.cols;
    if (into == Into::overwrite) std::fill(out, out + n.cols, T(0));
    for (int run = 0; run < runs; ++run)
      for (int j = 0; j < n.cols; ++j) out[j] += first[run * size + j];
  });
}

template <class T, class B>
Size checked(Matrix<T const> const& a, Op op_a, Matrix<B const> const& b, Op op_b, Matrix<T> const& c) {
  auto const shape = [](auto const& m, Op op) {
    return op == Op::plain ? std::vector<std::size_t>{m.extent(0), m.extent(1)}
                           : std::vector<std::size_t>{m.extent(1), m.extent(0)};
  };
  auto const left = shape(a, op_a), right = shape(b, op_b), out = shape(c, Op::plain);
  expect(left[1] == right[0] && out[0] == left[0] && out[1] == right[1], "matmul: op(a) is ", left, ", op(b) is ",
         right, " and c is ", out, ", expected [m, k], [k, n] and [m, n]");
  auto const contiguous = [](auto const& m) { return m.extent(1) <= 1 || m.stride(1) == 1; };
  expect(contiguous(a) && contiguous(b) && contiguous(c), "matmul: columns must be contiguous");
  return {static_cast<int>(out[0]), static_cast<int>(out[1]), static_cast<int>(left[1])};
}

template <class T, class B, class Multiply>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<B const> const& b, Op op_b, Matrix<T> const& c,
            Into into, Multiply const& multiply) {
  Size const size = checked(a, op_a, b, op_b, c);
  if (size.rows == 0 || size.cols == 0) return;
  if (op_a == Op::plain)
    matmul_rows(exec, size, a, b, op_b, c, into, multiply);
  else
    matmul_sums(exec, size, a, b, op_b, c, into, multiply);
}

/// c = a b^T for at most few_rows rows, each laid out by lay_out(row, terms, to); see few_rows.hpp.
template <class T, class B, class LayOut>
void matmul_few(Exec const& exec, Matrix<T const> const& a, Matrix<B const> const& b, Matrix<T> const& c,
                LayOut const& lay_out) {
  constexpr int few_cols = 32;
  static thread_local std::vector<T> rows;
  Size const n = checked(a, Op::plain, b, Op::transposed, c);
  expect(n.rows <= few_rows, "matmul_few: ", n.rows, " rows, expected at most ", few_rows);
  if (n.rows == 0) return;
  int const length = few::row_length<T>(n.terms);
  rows.resize(std::max(rows.size(), static_cast<std::size_t>(n.rows) * length));
  T* const left = rows.data();
  for (int i = 0; i < n.rows; ++i) lay_out(a.data() + i * a.stride(0), n.terms, left + i * length);
  for_tasks(exec, "sextant::matmul_few", blocks_of(n.cols, few_cols), [=](int block) {
    int const col = block * few_cols;
    few::product(n.rows, left, b.data() + col * b.stride(0), b.stride(0), std::min(few_cols, n.cols - col), n.terms,
                 c.data() + col, c.stride(0));
  });
}

}  // namespace sextant::kernels::blocks
