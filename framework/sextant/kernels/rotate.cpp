#include <sextant/base/error.hpp>
#include <sextant/kernels/rotate.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::kernels {
namespace {
void check_span(char const* what, RotationSpan const& span, int pairs, int heads, int head_dim) {
  expect(span.channel_begin >= 0 && span.channel_begin + 2 * pairs <= head_dim, what, ": channels ", span.channel_begin,
         " to ", span.channel_begin + 2 * pairs, " exceed head_dim ", head_dim);
  expect(span.head_begin >= 0 && span.head_begin + span.heads <= heads, what, ": heads ", span.head_begin, " to ",
         span.head_begin + span.heads, " exceed ", heads);
}

template <class T>
struct Rows {  // raw strides: a View's 4-D indexing costs more than the turn itself on a host
  T* data;
  std::int64_t batch, head, row;
  explicit Rows(Heads<T> const& x)
      : data(x.data()),
        batch(static_cast<std::int64_t>(x.stride_0())),
        head(static_cast<std::int64_t>(x.stride_1())),
        row(static_cast<std::int64_t>(x.stride_2())) {}
  KOKKOS_FUNCTION T* at(int b, int h, int i) const { return data + b * batch + h * head + i * row; }
};

template <class T>
KOKKOS_INLINE_FUNCTION void turn_half(T* x, T const* c, T const* s, int pairs, T sign, T scale) {
  T* y = x + pairs;
#pragma omp simd  // neither half overlaps the other or the table
  for (int p = 0; p < pairs; ++p) {
    T const a = x[p], b = y[p], cosine = c[p] * scale, sine = s[p] * sign * scale;
    x[p] = a * cosine - b * sine;
    y[p] = b * cosine + a * sine;
  }
}
template <class T>
KOKKOS_INLINE_FUNCTION void turn_interleaved(T* x, T const* c, T const* s, int pairs, T sign, T scale) {
  for (int p = 0; p < pairs; ++p) {
    T const a = x[2 * p], b = x[2 * p + 1], cosine = c[p] * scale, sine = s[p] * sign * scale;
    x[2 * p] = a * cosine - b * sine;
    x[2 * p + 1] = b * cosine + a * sine;
  }
}

template <class T>
void turn(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span, T sign,
          T scale) {
  int const pairs = table.cos.extent_int(2), batch = x.extent_int(0), len = x.extent_int(2);
  check_span("rotate", span, pairs, x.extent_int(1), x.extent_int(3));
  expect(x.size() == 0 || x.stride_3() == 1, "rotate: the channels of x are not contiguous");
  expect(table.cos.extent_int(1) >= len, "rotate: the table holds ", table.cos.extent_int(1), " tokens, x has ", len);
  Rows<T> const rows(x);
  auto const cos = table.cos, sin = table.sin;
  auto const sets = table;
  Kokkos::parallel_for(
      "sextant::rotate", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(batch) * len),
      KOKKOS_LAMBDA(std::int64_t token) {
        int const b = static_cast<int>(token / len), i = static_cast<int>(token % len);
        for (int h = 0; h < span.heads; ++h) {
          int const set = sets.set(b, h);
          T* channels = rows.at(b, span.head_begin + h, i) + span.channel_begin;
          if (span.interleaved)
            turn_interleaved(channels, &cos(set, i, 0), &sin(set, i, 0), pairs, sign, scale);
          else
            turn_half(channels, &cos(set, i, 0), &sin(set, i, 0), pairs, sign, scale);
        }
      });
}
}  // namespace

template <class T>
void form_rotation(Exec const& exec, View4<double> const& phase, View3<double> const& inv_freq, double factor,
                   int orientation, RotationTable<T>& table) {
  int const rows = phase.extent_int(0), len = phase.extent_int(2), axes = phase.extent_int(3);
  int const pairs = inv_freq.extent_int(2), own_phase = phase.extent_int(1), own_freq = inv_freq.extent_int(0);
  expect(inv_freq.extent_int(1) == axes, "form_rotation: frequencies along ", inv_freq.extent(1),
         " axes for positions of ", axes);
  int const heads = std::max(own_phase, own_freq);
  table.per_batch = rows > 1;
  table.per_head = heads > 1;
  table.heads = heads;
  std::size_t const sets = static_cast<std::size_t>(rows) * heads;
  if (table.cos.extent(0) != sets || table.cos.extent_int(1) != len || table.cos.extent_int(2) != pairs) {
    table.cos = View3<T>(uninitialized("rotation cos"), sets, len, pairs);
    table.sin = View3<T>(uninitialized("rotation sin"), sets, len, pairs);
  }
  auto const cos = table.cos, sin = table.sin;
  Kokkos::parallel_for(
      "sextant::form_rotation", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(sets) * len),
      KOKKOS_LAMBDA(std::int64_t at) {
        int const set = static_cast<int>(at / len), i = static_cast<int>(at % len);
        int const row = set / heads, head = set % heads;
        double const* turned = &phase(row, own_phase > 1 ? head : 0, i, 0);
        for (int p = 0; p < pairs; ++p) {
          double angle = 0;
          for (int a = 0; a < axes; ++a) angle += turned[a] * inv_freq(own_freq > 1 ? head : 0, a, p);
          angle *= orientation;
          cos(set, i, p) = static_cast<T>(factor * ::cos(angle));
          sin(set, i, p) = static_cast<T>(factor * ::sin(angle));
        }
      });
}

template <class T>
void rotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
            bool inverse) {
  turn<T>(exec, x, table, span, inverse ? T(-1) : T(1), T(1));
}

template <class T>
void unrotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
              double factor) {
  turn<T>(exec, x, table, span, T(-1), static_cast<T>(1 / (factor * factor)));
}

namespace {
/// d loss / d angle of pair p of a token, given its turned channels v and the gradient d with respect to them.
template <class T>
KOKKOS_INLINE_FUNCTION double angle_gradient(T const* v, T const* d, int p, int pairs, bool interleaved) {
  int const first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + 1 : p + pairs;
  return static_cast<double>(d[second]) * v[first] - static_cast<double>(d[first]) * v[second];
}
}  // namespace

template <class T>
void rotation_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                       View4<double> const& phase, RotationSpan const& span, int orientation,
                       View3<double> const& grad) {
  int const axes = grad.extent_int(1), pairs = grad.extent_int(2), batch = turned.extent_int(0);
  int const len = turned.extent_int(2), heads = span.heads;
  check_span("rotation_gradient", span, pairs, turned.extent_int(1), turned.extent_int(3));
  Rows<T const> const x(turned), g(grad_turned);
  View4<double> partial(uninitialized("rotation gradient"), batch, heads, axes, pairs);
  bool const shared = phase.extent_int(0) == 1, per_head = phase.extent_int(1) > 1;
  Kokkos::parallel_for(
      "sextant::rotation_gradient", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(batch) * heads),
      KOKKOS_LAMBDA(std::int64_t row) {
        int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
        for (int n = 0; n < axes * pairs; ++n) (&partial(b, h, 0, 0))[n] = 0;
        for (int i = 0; i < len; ++i) {
          double const* at = &phase(shared ? 0 : b, per_head ? h : 0, i, 0);
          T const* v = x.at(b, span.head_begin + h, i) + span.channel_begin;
          T const* d = g.at(b, span.head_begin + h, i) + span.channel_begin;
          for (int p = 0; p < pairs; ++p) {
            double const slope = orientation * angle_gradient(v, d, p, pairs, span.interleaved);
            for (int a = 0; a < axes; ++a) partial(b, h, a, p) += at[a] * slope;
          }
        }
      });
  bool const own = grad.extent_int(0) > 1;
  Kokkos::parallel_for(
      "sextant::rotation_gradient_sum", Kokkos::RangePolicy<Exec>(exec, 0, pairs), KOKKOS_LAMBDA(int p) {
        for (int b = 0; b < batch; ++b)
          for (int h = 0; h < heads; ++h)
            for (int a = 0; a < axes; ++a) grad(own ? h : 0, a, p) += partial(b, h, a, p);
      });
}

template <class T>
void phase_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                    View3<double> const& inv_freq, RotationSpan const& span, int orientation,
                    View3<double> const& grad) {
  int const pairs = inv_freq.extent_int(2), len = turned.extent_int(2);
  check_span("phase_gradient", span, pairs, turned.extent_int(1), turned.extent_int(3));
  Rows<T const> const x(turned), g(grad_turned);
  bool const own_freq = inv_freq.extent_int(0) > 1, own_phase = grad.extent_int(1) > 1;
  Kokkos::parallel_for(
      "sextant::phase_gradient", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(turned.extent(0)) * len),
      KOKKOS_LAMBDA(std::int64_t token) {
        int const b = static_cast<int>(token / len), i = static_cast<int>(token % len);
        for (int h = 0; h < span.heads; ++h) {
          T const* v = x.at(b, span.head_begin + h, i) + span.channel_begin;
          T const* d = g.at(b, span.head_begin + h, i) + span.channel_begin;
          double sum = 0;
          for (int p = 0; p < pairs; ++p)
            sum += inv_freq(own_freq ? h : 0, 0, p) * angle_gradient(v, d, p, pairs, span.interleaved);
          grad(b, own_phase ? h : 0, i) += orientation * sum;
        }
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                                        \
  template void form_rotation<T>(Exec const&, View4<double> const&, View3<double> const&, double, int,                \
                                 RotationTable<T>&);                                                                  \
  template void rotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&, bool);          \
  template void unrotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&, double);      \
  template void rotation_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, View4<double> const&, \
                                     RotationSpan const&, int, View3<double> const&);                                 \
  template void phase_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, View3<double> const&,    \
                                  RotationSpan const&, int, View3<double> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::kernels
