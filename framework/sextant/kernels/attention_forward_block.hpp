// The forward pass of one block of query rows: 96 rows against up to four chunks of 64 keys a step, online softmax in
// base 2. Every sum has a fixed order that no other block, thread or batch row enters. Both products take operands X: T, or
// pairs of bf16, for which alone the weights are rounded and the scale waits until the logits are float.
#pragma once
#include <sextant/kernels/attention_chain.hpp>

#include <cmath>

namespace sextant::kernels::host {

inline constexpr int slots = 4;  ///< chunks of a step
inline constexpr int groups = block / block_rows;

/// Keys and values of some (batch, kv head) pairs, chunk by chunk: keys transposed, values as rows, both in panels.
template <class X>
struct Packed {
  int first_chunk, chunks, depth, value_dim;  // operands along a key; value_dim in whole vectors
  X* data;
  std::int64_t chunk_size() const { return std::int64_t(chunk) * depth + std::int64_t(operands<X>(chunk)) * value_dim; }
  X* key(std::int64_t pair, int c) const { return data + (pair * chunks + c - first_chunk) * chunk_size(); }
  X* value(std::int64_t pair, int c) const { return key(pair, c) + std::int64_t(chunk) * depth; }
};

template <class T, class X>
class ForwardBlock {
 public:
  ForwardBlock(Problem<T> const& p, Packed<X> const& packed, Cursor memory) : p_(p), packed_(packed) { carve(memory); }

  static std::size_t scratch(Problem<T> const& p, Packed<X> const& packed) {
    ForwardBlock measure(p, packed, Cursor());
    Cursor counter;
    measure.carve(counter);
    return counter.used();
  }

  void run(int b, int h, std::int64_t pair, int row, Rows<T> const& out) {
    b_ = b, h_ = h, row_ = row, rows_ = std::min(block, p_.query_len - row), pair_ = pair;
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    HeadChain<T> const chain(p_, b, h);
    start(mask);
    Span const hull = mask.keys(row_, rows_);
    Span const ids = mask.query_range(row_, rows_);
    used_ = 0;
    for (int col = hull.begin / chunk * chunk; col < hull.end; col += chunk) {
      int const cols = std::min(chunk, p_.key_len - col);
      Span const key_ids = mask.key_range(col, cols);
      auto const part = mask.part(row_, rows_, ids, col, cols, key_ids);
      if (part.begin >= part.end || !p_.visible(b_, row_, rows_, col, cols)) continue;
      col_[used_] = col, key_ids_[used_] = key_ids;
      if (++used_ == slots) step(mask, chain), used_ = 0;
    }
    if (used_) step(mask, chain);
    finish(out);
  }

 private:
  using Way = typename HeadChain<T>::Way;
  static constexpr int W = width<T>, R = block_rows, P = panel_width<T>;
  static constexpr int stride = slots * chunk + 64 / static_cast<int>(sizeof(T));  // rows fall on different cache sets
  static constexpr int N = terms<X>;                                               // of the depth in an operand
  static constexpr bool exact = std::is_same_v<T, X>;

  void carve(Cursor& memory) {
    logit_ = memory.take<T>(block * stride);
    if constexpr (exact)
      weight_ = logit_;
    else
      weight_ = memory.take<X>(block * stride / N);
    query_ = memory.take<X>(std::int64_t(block) * packed_.depth + W);  // the last row may end within a vector
    out_ = memory.take<T>(std::int64_t(block) * packed_.value_dim);
    sum_ = memory.take<T>(block * W);
    top_ = memory.take<T>(block * W);
    max_ = memory.take<T>(block + W);
    next_ = memory.take<T>(block + W);
    factor_ = memory.take<T>(block + W);
  }

  int used_groups() const { return (rows_ + R - 1) / R; }
  int rows_of(int g) const { return std::min(R, rows_ - g * R); }

  void start(MaskRow const& mask) {
    int const padded = used_groups() * R;
    for (int r = 0; r < padded; ++r) {
      T const* const from = r < rows_ ? p_.query.at(b_, h_, row_ + r) : nullptr;
      bool const used = from && (!mask.query_ids() || mask.query_ids()[row_ + r] >= 0);
      X* const to = query_ + r * packed_.depth;
      if (!used) {
        std::fill_n(to, packed_.depth, X(0));
        continue;
      }
      if constexpr (exact)
        for (int d = 0; d < p_.head_dim; ++d) to[d] = from[d] * p_.scale;
      else
        store_along(to, from, p_.head_dim);
    }
    std::fill_n(out_, std::int64_t(padded) * packed_.value_dim, T(0));
    std::fill_n(sum_, padded * W, T(0));
    std::fill_n(max_, block + W, T(hidden_below * log2_e));
    std::fill_n(next_, block + W, T(hidden_below));
    for (int g = 0; g < used_groups(); ++g) ids_[g] = mask.query_range(row_ + g * R, rows_of(g));
  }

  void step(MaskRow const& mask, HeadChain<T> const& chain) {
    std::fill_n(top_, used_groups() * R * W, T(hidden_below));
    for (int s = 0; s < used_; ++s) {
      auto const way = chain.way(col_[s]);
      for (int g = 0; g < used_groups(); ++g) {
        auto& part = part_[g][s] = mask.part(row_ + g * R, rows_of(g), ids_[g], col_[s], chunk, key_ids_[s]);
        part.begin = part.begin / P * P, part.end = round_up(part.end, W);
        logits(mask, chain, way, g, s);
      }
    }
    for (int r = 0; r < used_groups() * R; ++r) next_[r] = largest<T>(load(top_ + r * W));
    for (int r = 0; r < used_groups() * R; r += W) {
      Vec<T> const old = load(max_ + r), now = simd::max(old, load(next_ + r) * T(log2_e));
      store(factor_ + r, exp2<T>(old - now));
      store(max_ + r, now);
    }
    for (int g = 0; g < used_groups(); ++g) weights(g);
    for (int d = 0; d < packed_.value_dim; d += P)
      for (int g = 0; g < used_groups(); ++g) values(g, d);
  }

  T* logit(int g, int s) const { return logit_ + g * R * stride + s * chunk; }
  X* weight(int g, int s) const { return weight_ + (g * R * stride + s * chunk) / N; }

  template <int V>
  static SEXTANT_INLINE Vec<T> highest(Vec<T> const (&x)[V]) {
    Vec<T> top = x[0];
    unroll<V - 1>([&](auto v) SEXTANT_INLINE_LAMBDA { top = simd::max(top, x[v + 1]); });
    return top;
  }

  /// Of a group against a chunk, with the largest of each row.
  void logits(MaskRow const& mask, HeadChain<T> const& chain, Way way, int g, int s) {
    auto const part = part_[g][s];
    int const row = row_ + g * R, rows = rows_of(g);
    if (way == Way::table) {
      auto const bias = chain.template table_rows<R>(row, rows, col_[s]);
      auto const add = [&](auto r, int at, auto& x) SEXTANT_INLINE_LAMBDA { x += load(bias.row[r] + at); };
      part.masked ? product<false>(g, s, add) : product<true>(g, s, add);
    } else {
      auto const nothing = [](auto, int, auto&) SEXTANT_INLINE_LAMBDA {};
      part.masked || way == Way::calls ? product<false>(g, s, nothing) : product<true>(g, s, nothing);
    }
    if (way == Way::calls) {
      int const end = std::min(part.end, p_.key_len - col_[s]);
      chain.call(row, rows, col_[s] + part.begin, end - part.begin, logit(g, s) + part.begin, stride);
    }
    if (part.masked || way == Way::calls) hide_and_max(mask, g, s);
  }

  /// query . key, changed by add(row, column, vector); with Max also the largest.
  template <bool Max, class Add>
  void product(int g, int s, Add const& add) {
    auto const part = part_[g][s];
    T* const to = logit(g, s);
    T* const top = top_ + g * R * W;
    X const* const keys = packed_.key(pair_, col_[s] / chunk);
    int const depth = packed_.depth;
    for (int j = part.begin; j < part.end; j += P)
      with_vectors((part.end - j) / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
        block_product<T, R, vectors>(query_ + g * R * depth, depth, 1, keys + j * depth, P, depth,
                                     [&](auto r, auto& x) SEXTANT_INLINE_LAMBDA {
                                       if constexpr (!exact)
                                         unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA { x[v] *= p_.scale; });
                                       unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA {
                                         add(r, j + v * W, x[v]);
                                         store(to + r * stride + j + v * W, x[v]);
                                       });
                                       if constexpr (Max) store(top + r * W, simd::max(load(top + r * W), highest(x)));
                                     });
      });
  }

  void hide_and_max(MaskRow const& mask, int g, int s) {
    auto const part = part_[g][s];
    T* const x = logit(g, s);
    if (part.masked) mask.hide(x, stride, row_ + g * R, rows_of(g), col_[s], part.begin, part.end);
    for (int r = 0; r < R; ++r) {
      Vec<T> top = load(top_ + (g * R + r) * W);
      for (int j = part.begin; j < part.end; j += W) top = simd::max(top, load(x + r * stride + j));
      store(top_ + (g * R + r) * W, top);
    }
  }

  /// logit -> 2^(logit log2 e - max), and its sum by lanes, before any rounding.
  void weights(int g) {
    for (int r = g * R; r < g * R + R; ++r) {
      Vec<T> const top = broadcast(max_[r]);
      Vec<T> even = load(sum_ + r * W) * factor_[r], odd{};
      for (int s = 0; s < used_; ++s) {
        auto const part = part_[g][s];
        T const* const x = logit_ + r * stride + s * chunk;
        X* const to = weight_ + (r * stride + s * chunk) / N;
        int j = part.begin;
        for (; j + 2 * W <= part.end; j += 2 * W) {
          Vec<T> const p0 = exp2<T>(load(x + j) * T(log2_e) - top), p1 = exp2<T>(load(x + j + W) * T(log2_e) - top);
          if constexpr (exact)
            store(to + j, p0), store(to + j + W, p1);
          else
            store(to + j / N, pairs_along(p0, p1));
          even += p0, odd += p1;
        }
        if (j < part.end) {
          Vec<T> const p0 = exp2<T>(load(x + j) * T(log2_e) - top);
          if constexpr (exact)
            store(to + j, p0);
          else
            store(to + j / N, pairs_along(p0, Vec<T>{}));
          even += p0;
        }
      }
      store(sum_ + r * W, even + odd);
    }
  }

  /// out = factor * out + weights * values, for the panel that begins at dimension d.
  void values(int g, int d) {
    int const dim = packed_.value_dim, wide = std::min(P, dim - d);
    T const* const factor = factor_ + g * R;
    with_vectors(wide / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
      block_update<T, R, vectors>(out_ + g * R * dim + d, dim, [&](auto& x) SEXTANT_INLINE_LAMBDA {
        unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
          unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA { x[r][v] *= factor[r]; });
        });
        for (int s = 0; s < used_; ++s) {
          auto const part = part_[g][s];
          X const* const panel = packed_.value(pair_, col_[s] / chunk) + d * operands<X>(chunk);
          block_sum<T, R, vectors>(x, weight(g, s) + part.begin / N, stride / N, 1, panel + part.begin / N * wide, wide,
                                   (part.end - part.begin) / N);
        }
      });
    });
  }

  void finish(Rows<T> const& out) {
    T* const log_sum_exp = p_.log_sum_exp_at(b_, h_) + row_;
    for (int r = 0; r < rows_; ++r) {
      T const total = sum<T>(load(sum_ + r * W));
      bool const empty = total == T(0);
      T const inverse = empty ? T(0) : T(1) / total;
      T* const to = out.at(b_, h_, row_ + r);
      T const* const from = out_ + r * packed_.value_dim;
      for (int d = 0; d < p_.value_dim; ++d) to[d] = from[d] * inverse;
      log_sum_exp[r] = empty ? -std::numeric_limits<T>::infinity() : max_[r] * T(ln_2) + std::log(total);
    }
  }

  Problem<T> const& p_;
  Packed<X> packed_;
  int b_ = 0, h_ = 0, row_ = 0, rows_ = 0, used_ = 0;
  std::int64_t pair_ = 0;
  int col_[slots] = {};
  Span key_ids_[slots] = {}, ids_[groups] = {};
  MaskRow::Part part_[groups][slots] = {};
  T *logit_, *out_;           // [block, stride], [block, packed value_dim]
  X *weight_, *query_;        // [block, stride / N], in the place of the logits where T is X; [block, depth]
  T *sum_, *top_;             // [block, W]: sum of weights and largest logit of the step, by lane
  T *max_, *next_, *factor_;  // [block + W]: log2 units; natural units; 2^(old max - new max)
};

}  // namespace sextant::kernels::host
