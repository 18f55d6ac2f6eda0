// Blocked attention, forward: packs keys and values and hands the blocks of query rows to the workers.
#include <sextant/kernels/attention_forward_block.hpp>

namespace sextant::kernels::host {
namespace {
/// Keys and values are packed for as many (batch, kv head) at a time as fit in here, and for at least one.
inline constexpr std::int64_t packed_bytes = 16 << 20;
/// A (batch, kv head) that packs to no more than this can be the business of one worker.
inline constexpr std::int64_t near_bytes = 256 << 10;

/// Keys and values of chunk c of one (batch, kv head) into place `pair`.
template <class T, class X>
void pack(Problem<T> const& p, Packed<X> const& packed, std::int64_t pair, int b, int h, int c) {
  int const col = c * chunk, cols = std::min(chunk, p.key_len - col);
  MaskRow const mask(p.mask, b, p.query_len, p.key_len);
  int const* const ids = mask.key_ids() ? mask.key_ids() + col : nullptr;
  pack_transposed(p.key.at(b, h, col), p.key.row, cols, chunk, p.head_dim, ids, packed.key(pair, c));
  pack_rows(p.value.at(b, h, col), p.value.row, cols, chunk, p.value_dim, ids, packed.value(pair, c));
}

template <class X, class T>
void forward_of(Problem<T> const& p, Rows<T> const& out, Workshop const& shop) {
  MaskRow const lengths({p.mask.causal, p.mask.window, nullptr, nullptr}, 0, p.query_len, p.key_len);
  Span const hull = lengths.keys(0, p.query_len);
  int const first = hull.begin / chunk, last = std::max(first, blocks_of(hull.end, chunk));
  Packed<X> packed{first, last - first, operands<X>(p.head_dim), round_up(p.value_dim, width<T>), nullptr};

  std::int64_t const pairs = std::int64_t(p.batch) * p.kv_heads, pair_size = packed.chunks * packed.chunk_size();
  std::int64_t const pair_bytes = std::max<std::int64_t>(1, pair_size * std::int64_t(sizeof(X)));
  int const blocks = blocks_of(p.query_len, block);
  std::size_t const scratch = ForwardBlock<T, X>::scratch(p, packed);
  auto const own = [&](int worker) { return Cursor((*shop.own)[static_cast<std::size_t>(worker)].data()); };

  // Many short pairs: each is one task, and what it packs stays in its worker's cache. The bits are the same.
  if (pair_bytes <= near_bytes && pairs >= 4 * static_cast<std::int64_t>(shop.own->size())) {
    shop.reserve_each(scratch + static_cast<std::size_t>(pair_bytes) + 64);
    shop.run("sextant::attention_forward", pairs, [&](int worker, std::int64_t pair) {
      Cursor memory = own(worker);
      Packed<X> mine = packed;
      mine.data = memory.take<X>(pair_size);
      int const b = static_cast<int>(pair / p.kv_heads), kv_head = static_cast<int>(pair % p.kv_heads);
      for (int c = first; c < last; ++c) pack(p, mine, 0, b, kv_head, c);
      ForwardBlock<T, X> work(p, mine, memory);
      for (int g = 0; g < p.group(); ++g)
        for (int k = 0; k < blocks; ++k) work.run(b, kv_head * p.group() + g, 0, k * block, out);
    });
    return;
  }

  std::int64_t const wave = std::clamp<std::int64_t>(packed_bytes / pair_bytes, 1, pairs);
  shop.shared->reserve(static_cast<std::size_t>(wave * pair_bytes));
  packed.data = static_cast<X*>(shop.shared->data());
  shop.reserve_each(scratch);
  for (std::int64_t begin = 0; begin < pairs; begin += wave) {
    std::int64_t const count = std::min(wave, pairs - begin), lanes = count * p.group();
    auto const batch_of = [&](std::int64_t pair) { return static_cast<int>((begin + pair) / p.kv_heads); };
    auto const head_of = [&](std::int64_t pair) { return static_cast<int>((begin + pair) % p.kv_heads); };
    shop.run("sextant::attention_pack", count * packed.chunks, [&](int, std::int64_t task) {
      std::int64_t const pair = task / packed.chunks;
      pack(p, packed, pair, batch_of(pair), head_of(pair), first + static_cast<int>(task % packed.chunks));
    });
    shop.run("sextant::attention_forward", lanes * blocks, [&](int worker, std::int64_t task) {
      std::int64_t const lane = task % lanes, pair = lane / p.group();
      int const row = (blocks - 1 - static_cast<int>(task / lanes)) * block;  // the long rows first
      int const h = head_of(pair) * p.group() + static_cast<int>(lane % p.group());
      ForwardBlock<T, X>(p, packed, own(worker)).run(batch_of(pair), h, pair, row, out);
    });
  }
}
}  // namespace

template <class T>
void forward(Problem<T> const& p, Rows<T> const& out, Workshop const& shop) {
  with_operands(p, [&](auto x) { forward_of<decltype(x)>(p, out, shop); });
}

template void forward(Problem<float> const&, Rows<float> const&, Workshop const&);
template void forward(Problem<double> const&, Rows<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
