#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/activation.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {
namespace {
constexpr int task_rows = 16;  // rows are independent here: the block only sets the size of a task

template <class X, class Y>
void expect_shape(char const* where, X const& x, Y const& y, int factor = 1) {
  expect(y.extent(0) == x.extent(0) && y.extent_int(1) * factor == x.extent_int(1), where, ": found [", y.extent(0),
         ", ", y.extent(1), "] beside [", x.extent(0), ", ", x.extent(1), "], expected [", x.extent(0), ", ",
         x.extent_int(1) / factor, "]");
}

template <class F>
void for_rows(Exec const& exec, char const* label, int rows, int width, F const& row) {
  launch(
      exec, label, blocks_of(rows, task_rows), std::int64_t(task_rows) * width, KOKKOS_LAMBDA(int block) {
        for (int i = block * task_rows; i < rows && i < (block + 1) * task_rows; ++i) row(i);
      });
}

// tanh-GELU is x * sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class T>
KOKKOS_INLINE_FUNCTION T gelu(T x) {
  return x * sigmoid(T(1.5957691216057308) * (x + T(0.044715) * x * x * x));
}
template <class T>
KOKKOS_INLINE_FUNCTION T gelu_slope(T x) {
  T const s = sigmoid(T(1.5957691216057308) * (x + T(0.044715) * x * x * x));
  return s + x * s * (T(1) - s) * T(1.5957691216057308) * (T(1) + T(3 * 0.044715) * x * x);
}
}  // namespace

template <class T>
void swiglu_forward(Exec const& exec, View2<T const> const& gate_up, View2<T> const& out) {
  expect_shape("swiglu", gate_up, out, 2);
  int const width = out.extent_int(1);
  for_rows(
      exec, "sextant::swiglu", out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const *const gate = &gate_up(i, 0), *const up = gate + width;
        T* const to = &out(i, 0);
        for (int c = 0; c < width; ++c) to[c] = gate[c] * sigmoid(gate[c]) * up[c];
      });
}

template <class T>
void swiglu_backward(Exec const& exec, View2<T const> const& gate_up, View2<T const> const& grad_out,
                     View2<T> const& grad_gate_up) {
  expect_shape("swiglu backward", gate_up, grad_out, 2);
  expect_shape("swiglu backward", gate_up, grad_gate_up);
  int const width = grad_out.extent_int(1);
  for_rows(
      exec, "sextant::swiglu_backward", grad_out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const *const gate = &gate_up(i, 0), *const up = gate + width, *const grad = &grad_out(i, 0);
        T *const to_gate = &grad_gate_up(i, 0), *const to_up = to_gate + width;
#pragma omp simd  // aliases only entry by entry
        for (int c = 0; c < width; ++c) {
          T const g = gate[c], s = sigmoid(g), u = up[c], d = grad[c];
          to_gate[c] = d * u * s * (T(1) + g * (T(1) - s));
          to_up[c] = d * g * s;
        }
      });
}

template <class T>
void gelu_forward(Exec const& exec, View2<T const> const& x, View2<T> const& out) {
  expect_shape("gelu", x, out);
  int const width = out.extent_int(1);
  for_rows(
      exec, "sextant::gelu", out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const* const from = &x(i, 0);
        T* const to = &out(i, 0);
#pragma omp simd  // aliases only entry by entry
        for (int c = 0; c < width; ++c) to[c] = gelu(from[c]);
      });
}

template <class T>
void gelu_backward(Exec const& exec, View2<T const> const& x, View2<T const> const& grad_out, View2<T> const& grad_x) {
  expect_shape("gelu backward", x, grad_out);
  expect_shape("gelu backward", x, grad_x);
  int const width = x.extent_int(1);
  for_rows(
      exec, "sextant::gelu_backward", x.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const *const from = &x(i, 0), *const grad = &grad_out(i, 0);
        T* const to = &grad_x(i, 0);
#pragma omp simd  // aliases only entry by entry
        for (int c = 0; c < width; ++c) to[c] = grad[c] * gelu_slope(from[c]);
      });
}

template <class T>
void geglu_forward(Exec const& exec, View2<T const> const& gate_up, View2<T> const& out) {
  expect_shape("geglu", gate_up, out, 2);
  int const width = out.extent_int(1);
  for_rows(
      exec, "sextant::geglu", out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const* const row = &gate_up(i, 0);
        T* const to = &out(i, 0);
        for (int c = 0; c < width; ++c) to[c] = gelu(row[c]) * row[width + c];
      });
}

template <class T>
void geglu_backward(Exec const& exec, View2<T const> const& gate_up, View2<T const> const& grad_out,
                    View2<T> const& grad_gate_up) {
  expect_shape("geglu backward", gate_up, grad_out, 2);
  expect_shape("geglu backward", gate_up, grad_gate_up);
  int const width = grad_out.extent_int(1);
  for_rows(
      exec, "sextant::geglu_backward", grad_out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const *const row = &gate_up(i, 0), *const grad = &grad_out(i, 0);
        T* const to = &grad_gate_up(i, 0);
#pragma omp simd  // aliases only entry by entry
        for (int c = 0; c < width; ++c) {
          T const gate = row[c], up = row[width + c], d = grad[c];
          to[c] = d * up * gelu_slope(gate);
          to[width + c] = d * gelu(gate);
        }
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                               \
  template void swiglu_forward(Exec const&, View2<T const> const&, View2<T> const&);                         \
  template void swiglu_backward(Exec const&, View2<T const> const&, View2<T const> const&, View2<T> const&); \
  template void gelu_forward(Exec const&, View2<T const> const&, View2<T> const&);                           \
  template void geglu_forward(Exec const&, View2<T const> const&, View2<T> const&);                          \
  template void geglu_backward(Exec const&, View2<T const> const&, View2<T const> const&, View2<T> const&);  \
  template void gelu_backward(Exec const&, View2<T const> const&, View2<T const> const&, View2<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
