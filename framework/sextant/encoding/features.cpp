#include <sextant/base/launch.hpp>
#include <sextant/encoding/features.hpp>
#include <sextant/kernels/matmul.hpp>

namespace sextant::encoding {
namespace {
using kernels::as_matrix;
using kernels::Into;
using kernels::matmul;
using kernels::Op;
using Policy = Kokkos::RangePolicy<HostExec>;

template <class T>
kernels::Matrix<T const> seen(View1<T> const& slice, int rows) {
  return kernels::Matrix<T const>(as_matrix(slice.data(), rows, static_cast<int>(slice.size()) / rows));
}
template <class T>
kernels::Matrix<T> shown(View1<T> const& slice, int rows) {
  return as_matrix(slice.data(), rows, static_cast<int>(slice.size()) / rows);
}
template <class T>
View2<T> array(char const* label, std::size_t rows, int columns) {
  return View2<T>(uninitialized(label), rows, static_cast<std::size_t>(columns));
}

/// Taps that reach back from token i inside its document.
int reach(View2<int> const& document, int b, int i, int taps) {
  int n = 1;
  while (n < taps && i - n >= 0 && (document.size() == 0 || document(b, i - n) == document(b, i))) ++n;
  return n;
}

template <class T>
void convolve(Exec const& exec, FeatureWork<T> const& work, Tokens const& tokens, FeatureState<T> const& state) {
  int const heads = work.heads, width = work.spec.width, taps = work.spec.taps, first = tokens.first;
  auto const raw = state.raw, value = state.value;
  auto const conv = work.conv;
  auto const document = tokens.document;
  launch_on_host(exec, "sextant::feature_conv", static_cast<std::int64_t>(tokens.batch) * tokens.count,
                 std::int64_t(heads) * width * taps, [=, count = tokens.count](std::int64_t token) {
                   int const b = static_cast<int>(token / count), i = first + static_cast<int>(token % count);
                   int const back = reach(document, b, i, taps);
                   for (int h = 0; h < heads; ++h)
                     for (int c = 0; c < width; ++c) {
                       T sum = 0;
                       for (int t = 0; t < back; ++t)
                         sum += conv((static_cast<std::int64_t>(h) * width + c) * taps + t) * raw(b, h, i - t, c);
                       value(b, h, i, c) = sum;
                     }
                 });
}

/// state.grad (with respect to value) to out (with respect to raw), and the taps' gradient.
template <class T>
void convolve_backward(Exec const& exec, FeatureWork<T> const& work, Tokens const& tokens, FeatureState<T> const& state,
                       View4<T> const& out) {
  int const heads = work.heads, width = work.spec.width, taps = work.spec.taps, count = tokens.count;
  int const batch = tokens.batch;
  auto const raw = state.raw, grad = state.grad;
  auto const conv = work.conv, grad_conv = work.grad_conv;
  auto const document = tokens.document;
  Kokkos::parallel_for("sextant::feature_conv_backward",
                       Policy(host_side(exec), 0, static_cast<std::int64_t>(heads) * width), [=](std::int64_t channel) {
                         int const h = static_cast<int>(channel / width), c = static_cast<int>(channel % width);
                         for (int b = 0; b < batch; ++b) {
                           for (int i = 0; i < count; ++i) out(b, h, i, c) = 0;
                           for (int i = 0; i < count; ++i)
                             for (int t = 0, back = reach(document, b, i, taps); t < back; ++t) {
                               out(b, h, i - t, c) += conv(channel * taps + t) * grad(b, h, i, c);
                               grad_conv(channel * taps + t) += grad(b, h, i, c) * raw(b, h, i - t, c);
                             }
                         }
                       });
}
}  // namespace

template <class T>
void feature_forward(Exec const& exec, FeatureWork<T> const& work, View2<T const> const& x, Tokens const& tokens,
                     FeatureState<T> const& state) {
  int const width = work.spec.width, columns = work.heads * width, first = tokens.first, count = tokens.count;
  auto const flat = array<T>("feature", x.extent(0), columns);
  if (work.spec.rank > 0) {
    auto const narrow = array<T>("feature bottleneck", x.extent(0), work.spec.rank);
    matmul<T>(exec, x, Op::plain, seen(work.down, work.spec.rank), Op::transposed, narrow);
    matmul<T>(exec, narrow, Op::plain, seen(work.up, columns), Op::transposed, flat);
  } else {
    matmul<T>(exec, x, Op::plain, seen(work.weight, columns), Op::transposed, flat);
  }
  auto const to = work.spec.taps > 0 ? state.raw : state.value;
  launch_on_host(exec, "sextant::feature_spread", static_cast<std::int64_t>(x.extent(0)), columns,
                 [=, heads = work.heads](std::int64_t token) {
                   int const b = static_cast<int>(token / count), i = first + static_cast<int>(token % count);
                   for (int h = 0; h < heads; ++h)
                     for (int c = 0; c < width; ++c) to(b, h, i, c) = flat(token, h * width + c);
                 });
  if (work.spec.taps > 0) convolve(exec, work, tokens, state);
  exec.fence();
}

template <class T>
void feature_backward(Exec const& exec, FeatureWork<T> const& work, View2<T const> const& x, Tokens const& tokens,
                      FeatureState<T> const& state, View2<T> const& grad_x) {
  int const width = work.spec.width, columns = work.heads * width, count = tokens.count;
  View4<T> grad = state.grad;
  if (work.spec.taps > 0) {
    grad = View4<T>(uninitialized("feature gradient"), grad.extent(0), grad.extent(1), grad.extent(2), grad.extent(3));
    convolve_backward(exec, work, tokens, state, grad);
  }
  auto const flat = array<T>("feature gradient", x.extent(0), columns);
  Kokkos::parallel_for("sextant::feature_gather", Policy(host_side(exec), 0, static_cast<std::int64_t>(x.extent(0))),
                       [=, heads = work.heads](std::int64_t token) {
                         int const b = static_cast<int>(token / count), i = static_cast<int>(token % count);
                         for (int h = 0; h < heads; ++h)
                           for (int c = 0; c < width; ++c) flat(token, h * width + c) = grad(b, h, i, c);
                       });
  if (work.spec.rank > 0) {
    auto const narrow = array<T>("feature bottleneck", x.extent(0), work.spec.rank);
    matmul<T>(exec, x, Op::plain, seen(work.down, work.spec.rank), Op::transposed, narrow);
    matmul<T>(exec, flat, Op::transposed, narrow, Op::plain, shown(work.grad_up, columns), Into::add);
    matmul<T>(exec, flat, Op::plain, seen(work.up, columns), Op::plain, narrow);
    matmul<T>(exec, narrow, Op::transposed, x, Op::plain, shown(work.grad_down, work.spec.rank), Into::add);
    matmul<T>(exec, narrow, Op::plain, seen(work.down, work.spec.rank), Op::plain, grad_x, Into::add);
  } else {
    matmul<T>(exec, flat, Op::transposed, x, Op::plain, shown(work.grad_weight, columns), Into::add);
    matmul<T>(exec, flat, Op::plain, seen(work.weight, columns), Op::plain, grad_x, Into::add);
  }
  exec.fence();
}

#define SEXTANT_INSTANTIATE(T)                                                                                \
  template void feature_forward<T>(Exec const&, FeatureWork<T> const&, View2<T const> const&, Tokens const&,  \
                                   FeatureState<T> const&);                                                   \
  template void feature_backward<T>(Exec const&, FeatureWork<T> const&, View2<T const> const&, Tokens const&, \
                                    FeatureState<T> const&, View2<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::encoding
