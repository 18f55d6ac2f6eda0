// Matrix products of the host; those of a device are in matmul_team.cpp. oneDNN's result depends on how many threads it is
// given, so it is only ever given one: it is called from inside our own parallel loop, where it stays sequential, on blocks
// that the shapes alone decide.
#include <sextant/kernels/matmul_blocks.hpp>
#include <sextant/kernels/matmul_team.hpp>

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

namespace sextant::kernels {
namespace blocks {

SingleThread::SingleThread() : threads_(omp_in_parallel() ? 0 : omp_get_max_threads()) {
  if (threads_ > 1) omp_set_num_threads(1);
}
SingleThread::~SingleThread() {
  if (threads_ > 1) omp_set_num_threads(threads_);
}

void multiply(Size n, Block<float const> a, Op op_a, Block<float const> b, Op op_b, Block<float> c, Into into) {
  SingleThread const alone;
  auto const letter = [](Op op) { return op == Op::plain ? 'N' : 'T'; };
  dnnl_sgemm(letter(op_a), letter(op_b), n.rows, n.cols, n.terms, 1.0f, a.data, a.stride, b.data, b.stride,
             into == Into::add ? 1.0f : 0.0f, c.data, c.stride);
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

}  // namespace blocks

template <class T>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<T const> const& b, Op op_b, Matrix<T> const& c,
            Into into) {
  if constexpr (!on_host) return team::matmul<T, T>(exec, a, op_a, b, op_b, c, into);
  blocks::matmul(exec, a, op_a, b, op_b, c, into,
                 [](blocks::Size n, blocks::Block<T const> left, Op op_left, blocks::Block<T const> right, Op op_right,
                    blocks::Block<T> out, Into how) { blocks::multiply(n, left, op_left, right, op_right, out, how); });
}

template <class T>
void matmul_few(Exec const& exec, Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  if constexpr (!on_host) return team::matmul<T, T>(exec, a, Op::plain, b, Op::transposed, c, Into::overwrite);
  blocks::matmul_few(exec, a, b, c, few::lay_out<T>);
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
