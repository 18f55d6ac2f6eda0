// Host matrix products. oneDNN's result depends on how many threads it is given, so it is only ever given one: it is
// called from inside our own parallel loop, where it stays sequential, on blocks that the shapes alone decide.
#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <vector>

namespace sextant::kernels {
namespace {
constexpr int row_block = 96;      // a multiple of the rows of every register block that oneDNN has
constexpr int col_block = 512;     // columns of a block; wider outputs are cut
constexpr int sum_block = 1024;    // terms of one partial sum when a is transposed
constexpr int few_cols = 32;       // columns of a task of matmul_few
constexpr int weight_block = 192;  // rows of a block of a weight's gradient

// A block cut short is filled up with zero rows to a multiple of this, so that its rows meet the kernel that a full block
// meets. oneDNN's AVX2 kernel treats 24, 48, 72 and 96 rows alike; with AVX-512 it chooses between two by the size.
int row_step() {
#if defined(__x86_64__)
  static int const step = __builtin_cpu_supports("avx512f") ? row_block : 24;
  return step;
#else
  return row_block;
#endif
}

template <class T>
struct Block {
  T* data;
  int stride;
};
template <class T>
Block<T> block_of(Matrix<T> const& m, Op op, int row, int col) {
  std::size_t const stride = m.stride(0);
  return {m.data() + (op == Op::plain ? row * stride + col : col * stride + row), static_cast<int>(stride)};
}

struct Size {
  int rows, cols, terms;
};

void multiply(Size n, Block<float const> a, Op op_a, Block<float const> b, Op op_b, Block<float> c, Into into) {
  bool const alone = !omp_in_parallel();  // a Kokkos without OpenMP, or one thread: oneDNN must not start its own
  int const threads = omp_get_max_threads();
  if (alone && threads > 1) omp_set_num_threads(1);
  auto const letter = [](Op op) { return op == Op::plain ? 'N' : 'T'; };
  dnnl_sgemm(letter(op_a), letter(op_b), n.rows, n.cols, n.terms, 1.0f, a.data, a.stride, b.data, b.stride,
             into == Into::add ? 1.0f : 0.0f, c.data, c.stride);
  if (alone && threads > 1) omp_set_num_threads(threads);
}

void multiply(Size n, Block<double const> a, Op op_a, Block<double const> b, Op op_b, Block<double> c, Into into) {
  for (int i = 0; i < n.rows; ++i) {
    double* const out = c.data + static_cast<std::size_t>(i) * c.stride;
    auto const left = [&](int p) {
      return op_a == Op::plain ? a.data[static_cast<std::size_t>(i) * a.stride + p]
                               : a.data[static_cast<std::size_t>(p) * a.stride + i];
    };
    if (into == Into::overwrite) std::fill(out, out + n.cols, 0.0);
    if (op_b == Op::plain) {
      for (int p = 0; p < n.terms; ++p) {
        double const factor = left(p);
        double const* const row = b.data + static_cast<std::size_t>(p) * b.stride;
        for (int j = 0; j < n.cols; ++j) out[j] += factor * row[j];
      }
    } else {
      for (int j = 0; j < n.cols; ++j) {
        double const* const row = b.data + static_cast<std::size_t>(j) * b.stride;
        out[j] += row_sum<double>(n.terms, [&](int p) { return left(p) * row[p]; });
      }
    }
  }
}

template <class F>
void for_tasks(Exec const& exec, char const* label, int tasks, F const& task) {
  Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>> policy(exec, 0, tasks);
  policy.set_chunk_size(1);
  Kokkos::parallel_for(label, policy, task);
}

// A block with too few rows, between rows of zeros: so that its rows meet the same arithmetic as those of a full one.
template <class T>
void multiply_short(Size n, Block<T const> a, Block<T const> b, Op op_b, Block<T> c, Into into) {
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
  multiply({rows, n.cols, n.terms}, Block<T const>{a_rows.data(), n.terms}, Op::plain, b, op_b,
           Block<T>{c_rows.data(), n.cols}, into);
  for (int i = 0; i < n.rows; ++i)
    std::copy_n(c_rows.data() + static_cast<std::size_t>(i) * n.cols, n.cols,
                c.data + static_cast<std::size_t>(i) * c.stride);
}

template <class T>
void matmul_rows(Exec const& exec, Size n, Matrix<T const> const& a, Matrix<T const> const& b, Op op_b,
                 Matrix<T> const& c, Into into) {
  int const row_blocks = blocks_of(n.rows, row_block), col_blocks = blocks_of(n.cols, col_block);
  for_tasks(exec, "sextant::matmul", row_blocks * col_blocks, [=](int task) {
    int const row = task / col_blocks * row_block, col = task % col_blocks * col_block;
    Size const size{std::min(row_block, n.rows - row), std::min(col_block, n.cols - col), n.terms};
    auto const left = block_of(a, Op::plain, row, 0), right = block_of(b, op_b, 0, col);
    auto const out = block_of(c, Op::plain, row, col);
    if (size.rows % row_step() == 0)
      multiply(size, left, Op::plain, right, op_b, out, into);
    else
      multiply_short(size, left, right, op_b, out, into);
  });
}

template <class T>
void matmul_sums(Exec const& exec, Size n, Matrix<T const> const& a, Matrix<T const> const& b, Op op_b,
                 Matrix<T> const& c, Into into) {
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
    auto const left = block_of(a, Op::transposed, row, first), right = block_of(b, op_b, first, col);
    if (runs == 1)
      multiply(block, left, Op::transposed, right, op_b, block_of(c, Op::plain, row, col), into);
    else
      multiply(block, left, Op::transposed, right, op_b,
               Block<T>{part + run * size + static_cast<std::size_t>(row) * n.cols + col, n.cols}, Into::overwrite);
  });
  if (runs == 1) return;
  Kokkos::parallel_for("sextant::matmul_add", Kokkos::RangePolicy<Exec>(exec, 0, n.rows), [=](int i) {
    T* const out = c.data() + i * c.stride(0);
    T const* const first = part + static_cast<std::size_t>(i) * n.cols;
    if (into == Into::overwrite) std::fill(out, out + n.cols, T(0));
    for (int run = 0; run < runs; ++run)
      for (int j = 0; j < n.cols; ++j) out[j] += first[run * size + j];
  });
}

template <class T>
Size checked(Matrix<T const> const& a, Op op_a, Matrix<T const> const& b, Op op_b, Matrix<T> const& c) {
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
}  // namespace

template <class T>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<T const> const& b, Op op_b, Matrix<T> const& c,
            Into into) {
  static_assert(on_host, "matmul has a host body only: build Kokkos with a host execution space");
  Size const size = checked(a, op_a, b, op_b, c);
  if (size.rows == 0 || size.cols == 0) return;
  if (op_a == Op::plain)
    matmul_rows(exec, size, a, b, op_b, c, into);
  else
    matmul_sums(exec, size, a, b, op_b, c, into);
}

template <class T>
void matmul_few(Exec const& exec, Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  Size const size = checked(a, Op::plain, b, Op::transposed, c);
  expect(size.rows <= few_rows, "matmul_few: ", size.rows, " rows, expected at most ", few_rows);
  if (size.rows == 0) return;
  Kokkos::parallel_for("sextant::matmul_few", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(size.cols, few_cols)),
                       [=](int block) {
                         int const col = block * few_cols, cols = std::min(few_cols, size.cols - col);
                         small_nt(a.data(), a.stride(0), size.rows, b.data() + col * b.stride(0), b.stride(0), cols,
                                  size.terms, T(1), c.data() + col, c.stride(0));
                       });
}

template void matmul_few(Exec const&, Matrix<float const> const&, Matrix<float const> const&, Matrix<float> const&);
template void matmul_few(Exec const&, Matrix<double const> const&, Matrix<double const> const&, Matrix<double> const&);
template void matmul(Exec const&, Matrix<float const> const&, Op, Matrix<float const> const&, Op, Matrix<float> const&,
                     Into);
template void matmul(Exec const&, Matrix<double const> const&, Op, Matrix<double const> const&, Op,
                     Matrix<double> const&, Into);

}  // namespace sextant::kernels

namespace sextant::reference {

template <class T>
void matmul(kernels::Matrix<T const> const& a, kernels::Op op_a, kernels::Matrix<T const> const& b, kernels::Op op_b,
            kernels::Matrix<T> const& c, kernels::Into into) {
  bool const plain_a = op_a == kernels::Op::plain, plain_b = op_b == kernels::Op::plain;
  int const terms = plain_a ? a.extent_int(1) : a.extent_int(0);
  for (int i = 0; i < c.extent_int(0); ++i)
    for (int j = 0; j < c.extent_int(1); ++j) {
      double total = into == kernels::Into::add ? static_cast<double>(c(i, j)) : 0.0;
      for (int p = 0; p < terms; ++p)
        total += static_cast<double>(plain_a ? a(i, p) : a(p, i)) * static_cast<double>(plain_b ? b(p, j) : b(j, p));
      c(i, j) = static_cast<T>(total);
    }
}
template void matmul(kernels::Matrix<float const> const&, kernels::Op, kernels::Matrix<float const> const&, kernels::Op,
                     kernels::Matrix<float> const&, kernels::Into);
template void matmul(kernels::Matrix<double const> const&, kernels::Op, kernels::Matrix<double const> const&,
                     kernels::Op, kernels::Matrix<double> const&, kernels::Into);

}  // namespace sextant::reference
