#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/norm.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {
namespace {

// Mean and 1 / deviation of one row.
template <class T>
struct RowStats {
  T mean, scale;
};

template <class T>
KOKKOS_INLINE_FUNCTION RowStats<T> row_stats(NormKind kind, T eps, int width, T const* x) {
  if (kind == NormKind::rmsnorm)
    return {T(0), T(1) / T(::sqrt(row_sum<T>(width, [=](int c) { return x[c] * x[c]; }) / T(width) + eps))};
  T const mean = row_sum<T>(width, [=](int c) { return x[c]; }) / T(width);
  T const variance = row_sum<T>(width, [=](int c) { return (x[c] - mean) * (x[c] - mean); }) / T(width);
  return {mean, T(1) / T(::sqrt(variance + eps))};
}

template <class T>
KOKKOS_INLINE_FUNCTION void normalise(RowStats<T> s, int width, T const* x, T const* gain, T const* bias, T* out) {
  if (bias)
    for (int c = 0; c < width; ++c) out[c] = (x[c] - s.mean) * s.scale * gain[c] + bias[c];
  else
    for (int c = 0; c < width; ++c) out[c] = (x[c] - s.mean) * s.scale * gain[c];
}

// One row's gradient. With n = (x - mean) * scale and g = grad_out * gain:
//   grad_x = scale * (g - n * mean(g n) - mean(g)), the last term for layernorm only.
template <class T>
KOKKOS_INLINE_FUNCTION void row_backward(NormKind kind, RowStats<T> s, int width, T const* x, T const* gain,
                                         T const* grad_out, T* grad_x, bool add, T* gain_part, T* bias_part) {
  T const along =
      row_sum<T>(width, [=](int c) { return grad_out[c] * gain[c] * (x[c] - s.mean); }) * s.scale / T(width);
  T const level =
      kind == NormKind::layernorm ? row_sum<T>(width, [=](int c) { return grad_out[c] * gain[c]; }) / T(width) : T(0);
  if (bias_part)
    for (int c = 0; c < width; ++c) bias_part[c] += grad_out[c];
  for (int c = 0; c < width; ++c) gain_part[c] += grad_out[c] * ((x[c] - s.mean) * s.scale);
  if (add)
    for (int c = 0; c < width; ++c)
      grad_x[c] += s.scale * (grad_out[c] * gain[c] - (x[c] - s.mean) * s.scale * along - level);
  else
    for (int c = 0; c < width; ++c)
      grad_x[c] = s.scale * (grad_out[c] * gain[c] - (x[c] - s.mean) * s.scale * along - level);
}

template <class T>
void check_norm(Norm<T> const& norm, std::size_t width) {
  expect(norm.gain.extent(0) == width, "norm: gain has ", norm.gain.extent(0), " entries, expected the width ", width);
  expect(norm.bias.extent(0) == 0 || norm.bias.extent(0) == width, "norm: bias has ", norm.bias.extent(0),
         " entries, expected the width ", width, " or none");
}

template <class X>
std::vector<std::size_t> shape3(X const& x) {
  return {x.extent(0), x.extent(1), x.extent(2)};
}

template <class T>
void check_stats(View2<T> const& stats, std::size_t rows) {
  expect(stats.extent(0) == rows && stats.extent(1) == 2, "norm: stats is [", stats.extent(0), ", ", stats.extent(1),
         "], expected [", rows, ", 2]");
}
}  // namespace

template <class T>
void norm_forward(Exec const& exec, Norm<T> const& norm, Groups<T const> const& x, Groups<T> const& out,
                  View2<T> const& stats) {
  check_norm(norm, x.extent(2));
  expect(shape3(x) == shape3(out), "norm: out is ", shape3(out), ", expected ", shape3(x));
  check_stats(stats, x.extent(0) * x.extent(1));
  int const rows = x.extent_int(0), groups = x.extent_int(1), width = x.extent_int(2);
  NormKind const kind = norm.kind;
  T const eps = static_cast<T>(norm.eps);
  View1<T const> const gain = norm.gain, bias = norm.bias;
  launch(
      exec, "sextant::norm", blocks_of(rows, block_rows), std::int64_t(block_rows) * groups * width,
      KOKKOS_LAMBDA(int block) {
        for (int i = block * block_rows; i < rows && i < (block + 1) * block_rows; ++i)
          for (int group = 0; group < groups; ++group) {
            T const* const row = &x(i, group, 0);
            RowStats<T> const s = row_stats(kind, eps, width, row);
            normalise(s, width, row, gain.data(), bias.data(), &out(i, group, 0));
            stats(i * groups + group, 0) = s.mean;
            stats(i * groups + group, 1) = s.scale;
          }
      });
}

template <class T>
void add_norm_forward(Exec const& exec, Norm<T> const& norm, View2<T const> const& x, View2<T const> const& addend,
                      View2<T> const& total, View2<T> const& out, View2<T> const& stats) {
  check_norm(norm, x.extent(1));
  auto const same = [&](auto const& y) { return y.extent(0) == x.extent(0) && y.extent(1) == x.extent(1); };
  expect(same(addend) && same(total) && same(out), "add_norm: addend, total and out must be [", x.extent(0), ", ",
         x.extent(1), "] as x is");
  check_stats(stats, x.extent(0));
  int const rows = x.extent_int(0), width = x.extent_int(1);
  NormKind const kind = norm.kind;
  T const eps = static_cast<T>(norm.eps);
  View1<T const> const gain = norm.gain, bias = norm.bias;
  launch(
      exec, "sextant::add_norm", blocks_of(rows, block_rows), std::int64_t(block_rows) * width,
      KOKKOS_LAMBDA(int block) {
        for (int i = block * block_rows; i < rows && i < (block + 1) * block_rows; ++i) {
          T const *const left = &x(i, 0), *const right = &addend(i, 0);
          T* const row = &total(i, 0);
          for (int c = 0; c < width; ++c) row[c] = left[c] + right[c];
          RowStats<T> const s = row_stats(kind, eps, width, static_cast<T const*>(row));
          normalise(s, width, static_cast<T const*>(row), gain.data(), bias.data(), &out(i, 0));
          stats(i, 0) = s.mean;
          stats(i, 1) = s.scale;
        }
      });
}

template <class T>
void norm_backward(Exec const& exec, Norm<T> const& norm, Groups<T const> const& x, View2<T const> const& stats,
                   Groups<T const> const& grad_out, Groups<T> const& grad_x, bool add_to_grad_x,
                   View1<T> const& grad_gain, View1<T> const& grad_bias, Scratch<T>& scratch) {
  check_norm(norm, x.extent(2));
  expect(shape3(x) == shape3(grad_out) && shape3(x) == shape3(grad_x), "norm backward: grad_out is ", shape3(grad_out),
         " and grad_x ", shape3(grad_x), ", expected ", shape3(x));
  expect(grad_gain.extent(0) == x.extent(2) && grad_bias.extent(0) == norm.bias.extent(0),
         "norm backward: grad_gain has ", grad_gain.extent(0), " and grad_bias ", grad_bias.extent(0),
         " entries, expected those of gain and bias");
  int const rows = x.extent_int(0), groups = x.extent_int(1), width = x.extent_int(2);
  int const blocks = blocks_of(rows, block_rows);
  bool const has_bias = norm.bias.extent(0) > 0;
  View1<T> const parts = scratch.at_least(static_cast<std::size_t>(blocks) * width * (has_bias ? 2 : 1));
  View2<T> const gain_parts(parts.data(), blocks, width);
  View2<T> const bias_parts(parts.data() + (has_bias ? static_cast<std::size_t>(blocks) * width : 0), blocks, width);
  NormKind const kind = norm.kind;
  View1<T const> const gain = norm.gain;
  Kokkos::parallel_for(
      "sextant::norm_backward", Kokkos::RangePolicy<Exec>(exec, 0, blocks), KOKKOS_LAMBDA(int block) {
        T* const gain_part = &gain_parts(block, 0);
        T* const bias_part = has_bias ? &bias_parts(block, 0) : nullptr;
        for (int c = 0; c < width; ++c) gain_part[c] = 0;
        for (int c = 0; has_bias && c < width; ++c) bias_part[c] = 0;
        for (int i = block * block_rows; i < rows && i < (block + 1) * block_rows; ++i)
          for (int group = 0; group < groups; ++group) {
            RowStats<T> const s{stats(i * groups + group, 0), stats(i * groups + group, 1)};
            row_backward(kind, s, width, &x(i, group, 0), gain.data(), &grad_out(i, group, 0), &grad_x(i, group, 0),
                         add_to_grad_x, gain_part, bias_part);
          }
      });
  add_rows<T>(exec, gain_parts, grad_gain);
  if (has_bias) add_rows<T>(exec, bias_parts, grad_bias);
}

#define SEXTANT_INSTANTIATE(T)                                                                                        \
  template void norm_forward(Exec const&, Norm<T> const&, Groups<T const> const&, Groups<T> const&, View2<T> const&); \
  template void add_norm_forward(Exec const&, Norm<T> const&, View2<T const> const&, View2<T const> const&,           \
                                 View2<T> const&, View2<T> const&, View2<T> const&);                                  \
  template void norm_backward(Exec const&, Norm<T> const&, Groups<T const> const&, View2<T const> const&,             \
                              Groups<T const> const&, Groups<T> const&, bool, View1<T> const&, View1<T> const&,       \
                              Scratch<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
