#include <sextant/kernels/attention_strip_plan.hpp>

namespace sextant::kernels::host {

template <class T>
int heads_at_once(Problem<T> const& p) {
  for (auto const* link : p.links)
    if (link->across_heads()) return p.heads;
  return 1;
}

template <class T>
int kv_heads_at_once(Problem<T> const& p) {
  return heads_at_once(p) == 1 ? 1 : p.kv_heads;
}

template <class T>
int strip_rows(Problem<T> const& p) {
  constexpr std::int64_t near = 192 << 10;  // logits of all heads at once that stay close to the core
  int const heads = heads_at_once(p), least = heads == 1 ? 4 * block_rows : block_rows;
  int const most =
      p.key_len < 1024 ? 4 * block_rows : 8 * block_rows;  // short causal rows: less work past the diagonal
  std::int64_t const fit = near / std::max<std::int64_t>(1, std::int64_t(p.key_len) * heads) / block_rows * block_rows;
  return std::min(static_cast<int>(std::clamp<std::int64_t>(fit, least, most)), round_up(p.query_len, block_rows));
}

template <class T>
bool packs(Problem<T> const& p, std::size_t bytes) {
  constexpr std::size_t most = 24 << 20;
  return p.query_len > block_rows && bytes <= most;
}

namespace {
/// [batch, heads, length, dim] of `from` with zeros where the id is negative.
template <class T>
Rows<T const> copy_clean(Rows<T const> const& from, int batch, int heads, int length, int dim, int const* ids,
                         T* const to, Tasks const& run) {
  run("sextant::attention_clean", std::int64_t(batch) * heads, [&](int, std::int64_t lane) {
    int const b = static_cast<int>(lane / heads), h = static_cast<int>(lane % heads);
    T* row = to + lane * length * dim;
    for (int i = 0; i < length; ++i, row += dim) {
      if (ids[std::int64_t(b) * length + i] < 0)
        std::fill_n(row, dim, T(0));
      else
        std::copy_n(from.at(b, h, i), dim, row);
    }
  });
  std::ptrdiff_t const lane = std::ptrdiff_t(length) * dim;
  return {to, lane * heads, lane, dim};
}
}  // namespace

template <class T>
Problem<T> without_padding(Problem<T> const& p, Cursor& memory, Tasks const& run) {
  Problem<T> clean = p;
  int const *const query_ids = p.mask.query_document, *const key_ids = p.mask.key_document;
  if (!key_ids) return clean;
  std::int64_t const queries = std::int64_t(p.batch) * p.query_len, keys = std::int64_t(p.batch) * p.key_len;
  auto const padding = [](int id) { return id < 0; };
  bool const some =
      std::any_of(query_ids, query_ids + queries, padding) || std::any_of(key_ids, key_ids + keys, padding);
  if (!some) return clean;
  auto const place = [&](Rows<T const>& x, int heads, int length, int dim, int const* ids) {
    T* const to = memory.take<T>(std::int64_t(p.batch) * heads * length * dim);
    if (to) x = copy_clean(x, p.batch, heads, length, dim, ids, to, run);
  };
  for (auto& branch : clean.branches) {
    place(branch.query, p.heads, p.query_len, p.head_dim, query_ids);
    place(branch.key, p.kv_heads, p.key_len, p.head_dim, key_ids);
  }
  place(clean.value, p.kv_heads, p.key_len, p.value_dim, key_ids);
  return clean;
}

#define SEXTANT_INSTANTIATE(T)                         \
  template int heads_at_once(Problem<T> const&);       \
  template int kv_heads_at_once(Problem<T> const&);    \
  template int strip_rows(Problem<T> const&);          \
  template bool packs(Problem<T> const&, std::size_t); \
  template Problem<T> without_padding(Problem<T> const&, Cursor&, Tasks const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels::host
