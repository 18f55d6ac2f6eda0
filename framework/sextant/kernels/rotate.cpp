#include <sextant/base/error.hpp>
#include <sextant/kernels/rotate.hpp>

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
void form_rotation(Exec const& exec, View2<double> const& phase, View2<double> const& inv_freq, double factor,
                   int orientation, RotationTable<T>& table) {
  int const rows = phase.extent_int(0), len = phase.extent_int(1), pairs = inv_freq.extent_int(1);
  table.per_batch = rows > 1;
  table.per_head = inv_freq.extent_int(0) > 1;
  table.heads = inv_freq.extent_int(0);
  std::size_t const sets = static_cast<std::size_t>(rows) * table.heads;
  if (table.cos.extent(0) != sets || table.cos.extent_int(1) != len || table.cos.extent_int(2) != pairs) {
    table.cos = View3<T>(uninitialized("rotation cos"), sets, len, pairs);
    table.sin = View3<T>(uninitialized("rotation sin"), sets, len, pairs);
  }
  int const heads = table.heads;
  auto const cos = table.cos, sin = table.sin;
  Kokkos::parallel_for(
      "sextant::form_rotation", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(sets) * len),
      KOKKOS_LAMBDA(std::int64_t at) {
        int const set = static_cast<int>(at / len), i = static_cast<int>(at % len);
        double const turned = orientation * phase(set / heads, i);
        for (int p = 0; p < pairs; ++p) {
          double const angle = turned * inv_freq(set % heads, p);
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

template <class T>
void rotation_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                       View2<double> const& phase, RotationSpan const& span, int orientation, bool per_head,
                       View2<double> const& grad) {
  int const pairs = grad.extent_int(1), batch = turned.extent_int(0), len = turned.extent_int(2), heads = span.heads;
  check_span("rotation_gradient", span, pairs, turned.extent_int(1), turned.extent_int(3));
  Rows<T const> const x(turned), g(grad_turned);
  View3<double> partial(uninitialized("rotation gradient"), batch, heads, pairs);
  bool const shared = phase.extent_int(0) == 1;
  Kokkos::parallel_for(
      "sextant::rotation_gradient", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(batch) * heads),
      KOKKOS_LAMBDA(std::int64_t row) {
        int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
        for (int p = 0; p < pairs; ++p) partial(b, h, p) = 0;
        for (int i = 0; i < len; ++i) {
          double const weight = orientation * phase(shared ? 0 : b, i);
          T const* v = x.at(b, span.head_begin + h, i) + span.channel_begin;
          T const* d = g.at(b, span.head_begin + h, i) + span.channel_begin;
          for (int p = 0; p < pairs; ++p) {
            int const first = span.interleaved ? 2 * p : p, second = span.interleaved ? 2 * p + 1 : p + pairs;
            partial(b, h, p) +=
                weight * (static_cast<double>(d[second]) * v[first] - static_cast<double>(d[first]) * v[second]);
          }
        }
      });
  Kokkos::parallel_for(
      "sextant::rotation_gradient_sum", Kokkos::RangePolicy<Exec>(exec, 0, pairs), KOKKOS_LAMBDA(int p) {
        for (int b = 0; b < batch; ++b)
          for (int h = 0; h < heads; ++h) grad(per_head ? h : 0, p) += partial(b, h, p);
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                                        \
  template void form_rotation<T>(Exec const&, View2<double> const&, View2<double> const&, double, int,                \
                                 RotationTable<T>&);                                                                  \
  template void rotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&, bool);          \
  template void unrotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&, double);      \
  template void rotation_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, View2<double> const&, \
                                     RotationSpan const&, int, bool, View2<double> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::kernels
