#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/rotate.hpp>
#include <sextant/kernels/rotate_past_cache.hpp>
#include <sextant/kernels/rotate_rows.hpp>
#include <sextant/kernels/view_rows.hpp>

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

/// Pairs (p, p + pairs) of x into `to`, which may be x itself.
template <class T>
KOKKOS_INLINE_FUNCTION void turn_half(T const* x, T* to, T const* c, T const* s, int pairs, T sign, T scale) {
  T const* y = x + pairs;
  T* to_y = to + pairs;
#pragma omp simd  // neither half overlaps the other or the table
  for (int p = 0; p < pairs; ++p) turn_pair(x[p], y[p], c[p] * scale, s[p] * sign * scale, to[p], to_y[p]);
}
template <class T>
KOKKOS_INLINE_FUNCTION void turn_interleaved(T const* x, T* to, T const* c, T const* s, int pairs, T sign, T scale) {
  for (int p = 0; p < pairs; ++p)
    turn_pair(x[2 * p], x[2 * p + 1], c[p] * scale, s[p] * sign * scale, to[2 * p], to[2 * p + 1]);
}

/// Turns the row of token i in head h.
template <class T>
KOKKOS_INLINE_FUNCTION void turn_row(Turn<T> const& turn, int b, int h, int i, T sign, T scale) {
  T const* const x = turn.from.at(b, h, i) + turn.channel_begin;
  T* const to = turn.to.at(b, h, i) + turn.channel_begin;
  int const set = h - turn.head_begin;
  if (turn.interleaved)
    turn_interleaved(x, to, turn.cos.at(b, set, i), turn.sin.at(b, set, i), turn.pairs, sign, scale);
  else
    turn_half(x, to, turn.cos.at(b, set, i), turn.sin.at(b, set, i), turn.pairs, sign, scale);
}

template <class T>
Rows<T const> angle_rows(View3<T> const& angles, RotationTable<T> const& table) {
  auto const set = static_cast<std::ptrdiff_t>(angles.stride(0));
  return {angles.data(), set * (table.set(1, 0) - table.set(0, 0)), set * (table.set(0, 1) - table.set(0, 0)),
          static_cast<std::ptrdiff_t>(angles.stride(1))};
}

template <class T>
Turn<T> turn_of(Heads<T const> const& x, Heads<T> const& to, RotationTable<T> const& table, RotationSpan const& span) {
  int const pairs = table.cos.extent_int(2);
  check_span("rotate", span, pairs, x.extent_int(1), x.extent_int(3));
  expect(x.size() == 0 || (x.stride(3) == 1 && to.stride(3) == 1), "rotate: the channels of x are not contiguous");
  expect(table.cos.extent_int(1) >= x.extent_int(2), "rotate: the table holds ", table.cos.extent_int(1),
         " tokens, x has ", x.extent_int(2));
  return {.from = rows_of(x),
          .to = rows_of(to),
          .cos = angle_rows(table.cos, table),
          .sin = angle_rows(table.sin, table),
          .head_begin = span.head_begin,
          .head_end = span.head_begin + span.heads,
          .channel_begin = span.channel_begin,
          .pairs = pairs,
          .interleaved = span.interleaved};
}

/// each(b, h, i) for the rows of `order`.
template <class Each>
void for_rows(Exec const& exec, RowOrder const& order, int channels, Each const& each) {
  launch(
      exec, "sextant::rotate", order.tasks(), order.task_rows() * channels,
      KOKKOS_LAMBDA(std::int64_t task) { order.visit(task, each); });
}

/// Turns the span's heads of x in place; scale_of(b, i) multiplies the turn of a token.
template <class T, class Scale>
void turn_in_place(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span, T sign,
                   Scale const& scale_of) {
  Turn<T> const turn = turn_of<T>(x, x, table, span);
  for_rows(
      exec, RowOrder(turn.from, x.extent_int(0), x.extent_int(2), turn.head_begin, turn.head_end), 2 * turn.pairs,
      KOKKOS_LAMBDA(int b, int h, int i) { turn_row(turn, b, h, i, sign, scale_of(b, i)); });
}
}  // namespace

template <class T>
void form_rotation(Exec const& exec, View4<double> const& phase, Spectra const& spectra, int orientation,
                   RotationTable<T>& table) {
  auto const inv_freq = spectra.inv_freq;
  int const own_rows = phase.extent_int(0), len = phase.extent_int(2), axes = phase.extent_int(3);
  int const pairs = inv_freq.extent_int(3), own_phase = phase.extent_int(1), own_freq = inv_freq.extent_int(1);
  int const rows = std::max(own_rows, spectra.of_token.extent_int(0));
  expect(inv_freq.extent_int(2) == axes, "form_rotation: frequencies along ", inv_freq.extent(2),
         " axes for positions of ", axes);
  expect(own_rows == rows || own_rows == 1, "form_rotation: positions of ", own_rows, " rows, spectra of ", rows);
  expect(spectra.of_token.size() == 0 || spectra.of_token.extent_int(1) == len, "form_rotation: spectra of ",
         spectra.of_token.extent(1), " tokens for positions of ", len);
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
  Spectra const of = spectra;
  bool const exact = spectra.format.exact();
  launch(
      exec, "sextant::form_rotation", static_cast<std::int64_t>(sets) * len, 64 * std::int64_t(pairs),
      KOKKOS_LAMBDA(std::int64_t at) {
        int const set = static_cast<int>(at / len), i = static_cast<int>(at % len);
        int const row = set / heads, head = set % heads;
        double const* turned = &phase(own_rows > 1 ? row : 0, own_phase > 1 ? head : 0, i, 0);
        int const n = of.at(row, i);
        double const factor = of.factor(n);
        for (int p = 0; p < pairs; ++p) {
          double angle = 0;
          for (int a = 0; a < axes; ++a) {
            double const by = inv_freq(n, own_freq > 1 ? head : 0, a, p);
            angle += exact ? turned[a] * by : angle_in(of.format.angle, turned[a], by);
          }
          angle *= orientation;
          double const c = ::cos(angle), s = ::sin(angle);
          cos(set, i, p) = static_cast<T>(factor * (exact ? c : round_to(of.format.table, c)));
          sin(set, i, p) = static_cast<T>(factor * (exact ? s : round_to(of.format.table, s)));
        }
      });
}

template <class T>
void rotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
            bool inverse) {
  turn_in_place<T>(
      exec, x, table, span, inverse ? T(-1) : T(1), KOKKOS_LAMBDA(int, int) { return T(1); });
}

namespace {
/// More than a core's share of the last cache on common CPUs: of an array this large little would be left in it.
constexpr std::size_t cache_bytes = std::size_t(64) << 20;

bool past_cache(std::size_t bytes, Writes writes) {
  return on_host && (writes == Writes::by_size ? bytes > cache_bytes : writes == Writes::past_cache);
}
}  // namespace

template <class T>
void rotate_into(Exec const& exec, Heads<T const> const& x, Heads<T> const& to, RotationTable<T> const& table,
                 RotationSpan const& span, Writes writes) {
  int const heads = x.extent_int(1), dim = x.extent_int(3);
  expect(to.extent_int(0) == x.extent_int(0) && to.extent_int(1) == heads && to.extent_int(2) == x.extent_int(2) &&
             to.extent_int(3) == dim,
         "rotate_into: to is [", to.extent(0), ", ", to.extent(1), ", ", to.extent(2), ", ", to.extent(3),
         "], expected [", x.extent(0), ", ", heads, ", ", x.extent(2), ", ", dim, "] as x");
  Turn<T> const turn = turn_of(x, to, table, span);
  RowOrder const order(turn.from, x.extent_int(0), x.extent_int(2), 0, heads);
  if (past_cache(to.size() * sizeof(T), writes) && host::writes_past_cache(turn)) {
    launch_on_host(exec, "sextant::rotate_past_cache", order.tasks(), order.task_rows() * dim,
                   [=](std::int64_t task) { host::turn_past_cache(turn, order, task, dim); });
    return;
  }
  for_rows(
      exec, order, dim, KOKKOS_LAMBDA(int b, int h, int i) {
        bool const turns = turn.turns(h);
        int const begin = turns ? turn.channel_begin : dim, end = turns ? turn.channel_end() : dim;
        T const* const channels = turn.from.at(b, h, i);
        T* const copied = turn.to.at(b, h, i);
        for (int c = 0; c < begin; ++c) copied[c] = channels[c];
        if (turns) turn_row(turn, b, h, i, T(1), T(1));
        for (int c = end; c < dim; ++c) copied[c] = channels[c];
      });
}

namespace {
/// Divides each pair by the norm of its rounded (cos, sin), which is not 1.
template <class T>
void restore_norms(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
                   Spectra const& spectra) {
  Turn<T> const turn = turn_of<T>(x, x, table, span);
  Spectra const of = spectra;
  for_rows(
      exec, RowOrder(turn.from, x.extent_int(0), x.extent_int(2), turn.head_begin, turn.head_end), 2 * turn.pairs,
      KOKKOS_LAMBDA(int b, int h, int i) {
        int const pairs = turn.pairs, set = h - turn.head_begin;
        double const factor = of.factor(of.at(b, i));
        T const *const cosine = turn.cos.at(b, set, i), *const sine = turn.sin.at(b, set, i);
        T* const channels = turn.to.at(b, h, i) + turn.channel_begin;
        for (int p = 0; p < pairs; ++p) {
          double const c = cosine[p] / factor, s = sine[p] / factor;
          T const by = static_cast<T>(1 / (c * c + s * s));
          channels[turn.interleaved ? 2 * p : p] *= by;
          channels[turn.interleaved ? 2 * p + 1 : p + pairs] *= by;
        }
      });
}
}  // namespace

template <class T>
void unrotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
              Spectra const& spectra) {
  Spectra const of = spectra;
  turn_in_place<T>(
      exec, x, table, span, T(-1), KOKKOS_LAMBDA(int b, int i) {
        double const factor = of.factor(of.at(b, i));
        return static_cast<T>(1 / (factor * factor));
      });
  if (!spectra.format.exact()) restore_norms(exec, x, table, span, spectra);
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
                       View4<double> const& phase, Spectra const& spectra, RotationSpan const& span, int orientation,
                       View4<double> const& grad) {
  int const sets = grad.extent_int(0), axes = grad.extent_int(2), pairs = grad.extent_int(3);
  int const batch = turned.extent_int(0), len = turned.extent_int(2), heads = span.heads;
  check_span("rotation_gradient", span, pairs, turned.extent_int(1), turned.extent_int(3));
  Rows<T const> const x = rows_of(turned), g = rows_of(grad_turned);
  View4<double> partial(uninitialized("rotation gradient"), batch, heads, sets * axes, pairs);
  Spectra const of = spectra;
  bool const shared = phase.extent_int(0) == 1, per_head = phase.extent_int(1) > 1;
  Kokkos::parallel_for(
      "sextant::rotation_gradient", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(batch) * heads),
      KOKKOS_LAMBDA(std::int64_t row) {
        int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
        for (int n = 0; n < sets * axes * pairs; ++n) (&partial(b, h, 0, 0))[n] = 0;
        for (int i = 0; i < len; ++i) {
          double const* at = &phase(shared ? 0 : b, per_head ? h : 0, i, 0);
          T const* v = x.at(b, span.head_begin + h, i) + span.channel_begin;
          T const* d = g.at(b, span.head_begin + h, i) + span.channel_begin;
          int const first = of.at(b, i) * axes;
          for (int p = 0; p < pairs; ++p) {
            double const slope = orientation * angle_gradient(v, d, p, pairs, span.interleaved);
            for (int a = 0; a < axes; ++a) partial(b, h, first + a, p) += at[a] * slope;
          }
        }
      });
  bool const own = grad.extent_int(1) > 1;
  Kokkos::parallel_for(
      "sextant::rotation_gradient_sum", Kokkos::RangePolicy<Exec>(exec, 0, pairs), KOKKOS_LAMBDA(int p) {
        for (int b = 0; b < batch; ++b)
          for (int h = 0; h < heads; ++h)
            for (int n = 0; n < sets * axes; ++n) grad(n / axes, own ? h : 0, n % axes, p) += partial(b, h, n, p);
      });
}

template <class T>
void phase_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                    Spectra const& spectra, RotationSpan const& span, int orientation, View3<double> const& grad) {
  auto const inv_freq = spectra.inv_freq;
  int const pairs = inv_freq.extent_int(3), len = turned.extent_int(2);
  check_span("phase_gradient", span, pairs, turned.extent_int(1), turned.extent_int(3));
  Rows<T const> const x = rows_of(turned), g = rows_of(grad_turned);
  Spectra const of = spectra;
  bool const own_freq = inv_freq.extent_int(1) > 1, own_phase = grad.extent_int(1) > 1;
  Kokkos::parallel_for(
      "sextant::phase_gradient", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(turned.extent(0)) * len),
      KOKKOS_LAMBDA(std::int64_t token) {
        int const b = static_cast<int>(token / len), i = static_cast<int>(token % len), n = of.at(b, i);
        for (int h = 0; h < span.heads; ++h) {
          T const* v = x.at(b, span.head_begin + h, i) + span.channel_begin;
          T const* d = g.at(b, span.head_begin + h, i) + span.channel_begin;
          double sum = 0;
          for (int p = 0; p < pairs; ++p)
            sum += inv_freq(n, own_freq ? h : 0, 0, p) * angle_gradient(v, d, p, pairs, span.interleaved);
          grad(b, own_phase ? h : 0, i) += orientation * sum;
        }
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                                        \
  template void form_rotation<T>(Exec const&, View4<double> const&, Spectra const&, int, RotationTable<T>&);          \
  template void rotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&, bool);          \
  template void rotate_into<T>(Exec const&, Heads<T const> const&, Heads<T> const&, RotationTable<T> const&,          \
                               RotationSpan const&, Writes);                                                          \
  template void unrotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&,               \
                            Spectra const&);                                                                          \
  template void rotation_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, View4<double> const&, \
                                     Spectra const&, RotationSpan const&, int, View4<double> const&);                 \
  template void phase_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, Spectra const&,          \
                                  RotationSpan const&, int, View3<double> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::kernels
