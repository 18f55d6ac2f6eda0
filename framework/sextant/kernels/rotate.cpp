#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/rotate.hpp>
#include <sextant/kernels/row_math.hpp>

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
        batch(static_cast<std::int64_t>(x.stride(0))),
        head(static_cast<std::int64_t>(x.stride(1))),
        row(static_cast<std::int64_t>(x.stride(2))) {}
  KOKKOS_FUNCTION T* at(int b, int h, int i) const { return data + b * batch + h * head + i * row; }
};

/// Pairs (p, p + pairs) of x into `to`, which may be x itself.
template <class T>
KOKKOS_INLINE_FUNCTION void turn_half(T const* x, T* to, T const* c, T const* s, int pairs, T sign, T scale) {
  T const* y = x + pairs;
  T* to_y = to + pairs;
#pragma omp simd  // neither half overlaps the other or the table
  for (int p = 0; p < pairs; ++p) {
    T const a = x[p], b = y[p], cosine = c[p] * scale, sine = s[p] * sign * scale;
    to[p] = a * cosine - b * sine;
    to_y[p] = b * cosine + a * sine;
  }
}
template <class T>
KOKKOS_INLINE_FUNCTION void turn_interleaved(T const* x, T* to, T const* c, T const* s, int pairs, T sign, T scale) {
  for (int p = 0; p < pairs; ++p) {
    T const a = x[2 * p], b = x[2 * p + 1], cosine = c[p] * scale, sine = s[p] * sign * scale;
    to[2 * p] = a * cosine - b * sine;
    to[2 * p + 1] = b * cosine + a * sine;
  }
}

/// Tokens of a task: their rows of the table stay in cache while head after head passes.
constexpr int turn_tokens = 32;

/// each(b, h, i) for heads [0, heads) of all tokens, in the order in which they lie in memory.
template <class T, class Each>
void for_heads(Exec const& exec, Heads<T> const& x, int heads, int channels, Each const& each) {
  int const len = x.extent_int(2), blocks = blocks_of(len, turn_tokens);
  bool const heads_apart = x.stride(1) > x.stride(2);  // [batch, heads, len, dim], not [batch, len, heads, dim]
  launch(
      exec, "sextant::rotate", static_cast<std::int64_t>(x.extent_int(0)) * blocks,
      std::int64_t(heads) * std::min(len, turn_tokens) * channels, KOKKOS_LAMBDA(std::int64_t task) {
        int const b = static_cast<int>(task / blocks), first = static_cast<int>(task % blocks) * turn_tokens;
        int const last = first + turn_tokens < len ? first + turn_tokens : len;
        if (heads_apart)
          for (int h = 0; h < heads; ++h)
            for (int i = first; i < last; ++i) each(b, h, i);
        else
          for (int i = first; i < last; ++i)
            for (int h = 0; h < heads; ++h) each(b, h, i);
      });
}

/// scale_of(b, i) multiplies the turn of a token. From x into `to`, which may be x itself.
template <class T, class Scale>
void turn(Exec const& exec, Heads<T const> const& x, Heads<T> const& to, RotationTable<T> const& table,
          RotationSpan const& span, T sign, Scale const& scale_of) {
  int const pairs = table.cos.extent_int(2), len = x.extent_int(2);
  check_span("rotate", span, pairs, x.extent_int(1), x.extent_int(3));
  expect(x.size() == 0 || x.stride(3) == 1, "rotate: the channels of x are not contiguous");
  expect(table.cos.extent_int(1) >= len, "rotate: the table holds ", table.cos.extent_int(1), " tokens, x has ", len);
  Rows<T const> const from(x);
  Rows<T> const into(to);
  auto const cos = table.cos, sin = table.sin;
  auto const sets = table;
  for_heads(
      exec, to, span.heads, 2 * pairs, KOKKOS_LAMBDA(int b, int h, int i) {
        T const scale = scale_of(b, i);
        int const set = sets.set(b, h);
        T const* const channels = from.at(b, span.head_begin + h, i) + span.channel_begin;
        T* const turned = into.at(b, span.head_begin + h, i) + span.channel_begin;
        if (span.interleaved)
          turn_interleaved(channels, turned, &cos(set, i, 0), &sin(set, i, 0), pairs, sign, scale);
        else
          turn_half(channels, turned, &cos(set, i, 0), &sin(set, i, 0), pairs, sign, scale);
      });
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
  turn<T>(
      exec, x, x, table, span, inverse ? T(-1) : T(1), KOKKOS_LAMBDA(int, int) { return T(1); });
}

template <class T>
void rotate_into(Exec const& exec, Heads<T const> const& x, Heads<T> const& to, RotationTable<T> const& table,
                 RotationSpan const& span) {
  int const heads = x.extent_int(1), dim = x.extent_int(3), pairs = table.cos.extent_int(2);
  expect(to.extent_int(0) == x.extent_int(0) && to.extent_int(1) == heads && to.extent_int(2) == x.extent_int(2) &&
             to.extent_int(3) == dim,
         "rotate_into: to is [", to.extent(0), ", ", to.extent(1), ", ", to.extent(2), ", ", to.extent(3),
         "], expected [", x.extent(0), ", ", heads, ", ", x.extent(2), ", ", dim, "] as x");
  turn<T>(
      exec, x, to, table, span, T(1), KOKKOS_LAMBDA(int, int) { return T(1); });
  if (span.heads == heads && 2 * pairs == dim) return;
  Rows<T const> const from(x);
  Rows<T> const into(to);
  int const begin = span.channel_begin, end = begin + 2 * pairs;
  int const head_begin = span.head_begin, head_end = span.head_begin + span.heads;
  for_heads(
      exec, to, heads, dim, KOKKOS_LAMBDA(int b, int h, int i) {
        bool const inside = h >= head_begin && h < head_end;
        T const* const channels = from.at(b, h, i);
        T* const copied = into.at(b, h, i);
        for (int c = 0; c < (inside ? begin : dim); ++c) copied[c] = channels[c];
        for (int c = inside ? end : dim; c < dim; ++c) copied[c] = channels[c];
      });
}

namespace {
/// Divides each pair by the norm of its rounded (cos, sin), which is not 1.
template <class T>
void restore_norms(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
                   Spectra const& spectra) {
  int const pairs = table.cos.extent_int(2);
  Rows<T> const rows(x);
  auto const cos = table.cos, sin = table.sin;
  auto const sets = table;
  Spectra const of = spectra;
  for_heads(
      exec, x, span.heads, 2 * pairs, KOKKOS_LAMBDA(int b, int h, int i) {
        int const set = sets.set(b, h);
        double const factor = of.factor(of.at(b, i));
        T* const channels = rows.at(b, span.head_begin + h, i) + span.channel_begin;
        for (int p = 0; p < pairs; ++p) {
          double const c = cos(set, i, p) / factor, s = sin(set, i, p) / factor;
          T const by = static_cast<T>(1 / (c * c + s * s));
          channels[span.interleaved ? 2 * p : p] *= by;
          channels[span.interleaved ? 2 * p + 1 : p + pairs] *= by;
        }
      });
}
}  // namespace

template <class T>
void unrotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
              Spectra const& spectra) {
  Spectra const of = spectra;
  turn<T>(
      exec, x, x, table, span, T(-1), KOKKOS_LAMBDA(int b, int i) {
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
  Rows<T const> const x(turned), g(grad_turned);
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
  Rows<T const> const x(turned), g(grad_turned);
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
                               RotationSpan const&);                                                                  \
  template void unrotate<T>(Exec const&, Heads<T> const&, RotationTable<T> const&, RotationSpan const&,               \
                            Spectra const&);                                                                          \
  template void rotation_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, View4<double> const&, \
                                     Spectra const&, RotationSpan const&, int, View4<double> const&);                 \
  template void phase_gradient<T>(Exec const&, Heads<T const> const&, Heads<T const> const&, Spectra const&,          \
                                  RotationSpan const&, int, View3<double> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::kernels
