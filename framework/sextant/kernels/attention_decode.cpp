// Attention of a few query rows against many keys. Keys and values are read once, where they lie, for all query heads of
// their group; splits of 256 keys are tasks, joined in the order of the keys.
#include <sextant/base/small_work.hpp>
#include <sextant/kernels/attention_host.hpp>

#include <cmath>

namespace sextant::kernels::host {
namespace {
inline constexpr int split_keys = 256;
inline constexpr int value_block = 16;  // keys whose values stay in L1 while the rows pass over them

/// What a split leaves of a row: weights * values over [dim], their sum, and the largest logit in log2 units.
template <class T>
struct Partial {
  int rows, dim, splits;
  T* data;
  std::int64_t row_size() const { return dim + 2; }
  T* at(std::int64_t pair, int split, int row) const {
    return data + ((pair * splits + split) * rows + row) * row_size();
  }
};

template <class T>
class Split {
 public:
  Split(Problem<T> const& p, Cursor memory) : p_(p) { carve(memory); }

  static std::size_t scratch(Problem<T> const& p) {
    Split measure(p, Cursor());
    Cursor counter;
    measure.carve(counter);
    return counter.used();
  }

  /// `to` receives the group's rows, head by head.
  void run(int b, int kv_head, int col, T* to, std::int64_t to_stride) {
    b_ = b, kv_head_ = kv_head, col_ = col;
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    part_ = visible_part(mask);
    if (part_.begin < part_.end) {
      load_queries();
      logits();
      for (int g = 0; g < p_.group(); ++g) modify_and_hide(mask, g);
    }
    for (int r = 0; r < rows(); ++r) weights(r, to + r * to_stride);
    if (part_.begin < part_.end) values(mask, to, to_stride);
  }

 private:
  static constexpr int W = width<T>;
  static constexpr int stride = split_keys + 64 / static_cast<int>(sizeof(T));

  int rows() const { return p_.group() * p_.query_len; }
  int key_dim() const { return round_up(p_.head_dim, W); }
  int value_dim() const { return round_up(p_.value_dim, W); }

  void carve(Cursor& memory) {
    query_ = memory.take<T>(std::int64_t(rows()) * key_dim());
    logit_ = memory.take<T>(std::int64_t(rows()) * stride);
    key_ = memory.take<T>(std::int64_t(W) * key_dim());
    value_ = memory.take<T>(std::int64_t(value_block) * value_dim());
  }

  /// Columns in use, in whole vectors; chunks that nothing sees are cut off at both ends.
  MaskRow::Part visible_part(MaskRow const& mask) const {
    Span const ids = mask.query_range(0, p_.query_len);
    MaskRow::Part all;
    for (int at = 0; at < split_keys && col_ + at < p_.key_len; at += chunk) {
      int const cols = std::min(chunk, p_.key_len - col_ - at);
      auto const part = mask.part(0, p_.query_len, ids, col_ + at, chunk, mask.key_range(col_ + at, cols));
      bool const used = part.begin < part.end && p_.visible(b_, 0, p_.query_len, col_ + at, cols);
      if (!used) {
        all.masked = true;  // counts if a later chunk is in use
        continue;
      }
      if (all.begin == all.end) all = {(at + part.begin) / W * W, 0, false};
      all.end = at + round_up(part.end, W);
      all.masked = all.masked || part.masked;
    }
    return all;
  }

  void load_queries() {
    for (int r = 0; r < rows(); ++r) {
      T const* const from = p_.query.at(b_, kv_head_ * p_.group() + r / p_.query_len, r % p_.query_len);
      T* const to = query_ + r * key_dim();
      for (int d = 0; d < p_.head_dim; ++d) to[d] = from[d] * p_.scale;
      std::fill(to + p_.head_dim, to + key_dim(), T(0));
    }
  }

  /// Row j of `from` in whole vectors: where it lies, or copied to `spare` with zeros behind it.
  static T const* whole(T const* from, int dim, T* spare) {
    if (dim % W == 0) return from;
    std::copy_n(from, dim, spare);
    std::fill(spare + dim, spare + round_up(dim, W), T(0));
    return spare;
  }

  void logits() {
    int const dim = key_dim();
    for (int j = part_.begin; j < part_.end; j += W) {
      T const* key[W];
      for (int k = 0; k < W; ++k) {  // past the last key: the last key once more, hidden later
        int const at = std::min(col_ + j + k, p_.key_len - 1);
        key[k] = whole(p_.key.at(b_, kv_head_, at), p_.head_dim, key_ + k * dim);
      }
      for (int r = 0; r < rows(); ++r) {
        Vec<T> x[W];
        unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { x[k] = Vec<T>{}; });
        for (int d = 0; d < dim; d += W) {
          Vec<T> const q = load(query_ + r * dim + d);
          unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { x[k] += q * load(key[k] + d); });
        }
        store(logit_ + r * stride + j, sums<T>(x));
      }
    }
  }

  void modify_and_hide(MaskRow const& mask, int g) {
    T* const x = logit_ + g * p_.query_len * stride;
    int const begin = part_.begin, cols = std::min(part_.end, p_.key_len - col_) - begin;
    int const h = kv_head_ * p_.group() + g;
    Tile<T> const tile = p_.tile(b_, h, 0, p_.query_len, col_ + begin, cols, x + begin, stride);
    for (auto const* link : p_.modifiers) link->forward(tile);
    if (part_.masked) mask.hide(x, stride, 0, p_.query_len, col_, begin, part_.end);
  }

  void weights(int r, T* to) {
    T* const x = logit_ + r * stride;
    Vec<T> top = broadcast(T(hidden_below)), total{};
    for (int j = part_.begin; j < part_.end; j += W) top = simd::max(top, load(x + j));
    T const most = largest<T>(top) * T(log2_e);
    for (int j = part_.begin; j < part_.end; j += W) {
      Vec<T> const weight = exp2<T>(load(x + j) * T(log2_e) - most);
      store(x + j, weight);
      total += weight;
    }
    std::fill_n(to, value_dim(), T(0));
    to[value_dim()] = sum<T>(total);
    to[value_dim() + 1] = most;
  }

  void values(MaskRow const& mask, T* to, std::int64_t to_stride) {
    int const dim = value_dim(), last = std::min(part_.end, p_.key_len - col_);
    for (int j = part_.begin; j < last; j += value_block) {
      int const keys = std::min(value_block, last - j);
      T const* value[value_block];
      int at[value_block], used = 0;
      for (int k = 0; k < keys; ++k) {
        if (mask.key_ids() && mask.key_ids()[col_ + j + k] < 0) continue;  // padding may hold anything
        value[used] = whole(p_.value.at(b_, kv_head_, col_ + j + k), p_.value_dim, value_ + used * dim);
        at[used++] = j + k;
      }
      for (int r = 0; r < rows(); ++r)
        for (int d = 0; d < dim; d += 4 * W)
          with_vectors<4>((dim - d) / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
            constexpr int V = vectors;
            T* const out = to + r * to_stride + d;
            Vec<T> x[V];
            unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { x[v] = load(out + v * W); });
            for (int k = 0; k < used; ++k) {
              Vec<T> const weight = broadcast(logit_[r * stride + at[k]]);
              unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { x[v] += weight * load(value[k] + d + v * W); });
            }
            unroll<V>([&](auto v) SEXTANT_INLINE_LAMBDA { store(out + v * W, x[v]); });
          });
    }
  }

  Problem<T> const& p_;
  int b_ = 0, kv_head_ = 0, col_ = 0;
  MaskRow::Part part_;
  T *query_, *logit_, *key_, *value_;
};

template <class T>
void join(Problem<T> const& p, Partial<T> const& partial, std::int64_t pair, int row, Rows<T> const& out) {
  int const b = static_cast<int>(pair / p.kv_heads), i = row % p.query_len;
  int const h = static_cast<int>(pair % p.kv_heads) * p.group() + row / p.query_len;
  int const dim = partial.dim;
  T most = T(hidden_below * log2_e), total = 0;
  for (int s = 0; s < partial.splits; ++s) most = std::max(most, partial.at(pair, s, row)[dim + 1]);
  T* const to = out.at(b, h, i);
  std::fill_n(to, p.value_dim, T(0));
  for (int s = 0; s < partial.splits; ++s) {
    T const* const from = partial.at(pair, s, row);
    if (from[dim] == T(0)) continue;
    T const factor = std::exp2(from[dim + 1] - most);
    total += factor * from[dim];
    for (int d = 0; d < p.value_dim; ++d) to[d] += factor * from[d];
  }
  bool const empty = total == T(0);
  for (int d = 0; d < p.value_dim; ++d) to[d] = empty ? T(0) : to[d] / total;
  p.log_sum_exp_at(b, h)[i] = empty ? -std::numeric_limits<T>::infinity() : most * T(ln_2) + std::log(total);
}
}  // namespace

template <class T>
void decode(Problem<T> const& p, Rows<T> const& out, Workshop const& shop) {
  MaskRow const lengths({p.mask.causal, p.mask.window, nullptr, nullptr}, 0, p.query_len, p.key_len);
  Span const hull = lengths.keys(0, p.query_len);
  int const first = hull.begin / split_keys;
  int const splits = std::max(0, blocks_of(hull.end, split_keys) - first);
  Partial<T> partial{p.group() * p.query_len, round_up(p.value_dim, width<T>), splits, nullptr};
  std::int64_t const pairs = std::int64_t(p.batch) * p.kv_heads;
  shop.shared->reserve(static_cast<std::size_t>(pairs * splits * partial.rows * partial.row_size()) * sizeof(T));
  partial.data = static_cast<T*>(shop.shared->data());
  shop.reserve_each(Split<T>::scratch(p));

  shop.run("sextant::attention_decode", pairs * splits, [&](int worker, std::int64_t task) {
    std::int64_t const pair = task / splits;
    int const s = static_cast<int>(task % splits);
    Split<T>(p, Cursor((*shop.own)[static_cast<std::size_t>(worker)].data()))
        .run(static_cast<int>(pair / p.kv_heads), static_cast<int>(pair % p.kv_heads), (first + s) * split_keys,
             partial.at(pair, s, 0), partial.row_size());
  });
  std::int64_t const joins = pairs * partial.rows;
  auto const join_one = [&](int, std::int64_t task) {
    join(p, partial, task / partial.rows, static_cast<int>(task % partial.rows), out);
  };
  if (joins * splits * partial.dim > small_work) return shop.run("sextant::attention_join", joins, join_one);
  for (std::int64_t task = 0; task < joins; ++task) join_one(0, task);
}

template void decode(Problem<float> const&, Rows<float> const&, Workshop const&);
template void decode(Problem<double> const&, Rows<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
