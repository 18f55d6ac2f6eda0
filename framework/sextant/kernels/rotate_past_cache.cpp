#include <sextant/kernels/rotate_past_cache.hpp>
#include <sextant/kernels/simd_stream.hpp>

namespace sextant::kernels::host {
using namespace simd;

namespace {
template <class T>
SEXTANT_INLINE void copy(T const* x, T* to, int channels) {
  int c = 0;
  for (; c + width<T> <= channels; c += width<T>) stream(to + c, load(x + c));
  for (; c < channels; ++c) to[c] = x[c];
}
template <class T>
SEXTANT_INLINE void turn_row(T const* x, T* to, T const* cosine, T const* sine, int pairs, bool interleaved) {
  for (int p = 0; p < pairs; p += width<T>) {
    int const first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + width<T> : p + pairs;
    Vec<T> a = load(x + first), b = load(x + second);
    if (interleaved) split_pairs<T>(a, b);
    turn_pair(a, b, load(cosine + p), load(sine + p), a, b);
    if (interleaved) join_pairs<T>(a, b);
    stream(to + first, a), stream(to + second, b);
  }
}
}  // namespace

template <class T>
bool writes_past_cache(Turn<T> const& turn) {
  auto const& to = turn.to;
  bool whole = reinterpret_cast<std::uintptr_t>(to.data) % simd::bytes == 0;
  for (std::ptrdiff_t const step :
       {to.batch, to.head, to.row, std::ptrdiff_t(turn.channel_begin), std::ptrdiff_t(turn.pairs)})
    whole = whole && step % width<T> == 0;
  return whole;
}

template <class T>
void turn_past_cache(Turn<T> const& turn, RowOrder const& order, std::int64_t task, int head_dim) {
  int const begin = turn.channel_begin, end = turn.channel_end();
  order.visit(task, [&](int b, int h, int i) {
    T const* const x = turn.from.at(b, h, i);
    T* const to = turn.to.at(b, h, i);
    if (!turn.turns(h)) return copy(x, to, head_dim);
    int const set = h - turn.head_begin;
    copy(x, to, begin);
    turn_row(x + begin, to + begin, turn.cos.at(b, set, i), turn.sin.at(b, set, i), turn.pairs, turn.interleaved);
    copy(x + end, to + end, head_dim - end);
  });
  end_stream();
}

#define SEXTANT_INSTANTIATE(T)                        \
  template bool writes_past_cache<T>(Turn<T> const&); \
  template void turn_past_cache<T>(Turn<T> const&, RowOrder const&, std::int64_t, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::kernels::host
