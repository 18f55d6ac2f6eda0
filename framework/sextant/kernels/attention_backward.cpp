// Blocked attention, backward: weights are formed again from the saved log-sum-exp, so nothing of size length x length
// was kept.
//
//   P = exp(S - log_sum_exp)   dP = dO V^T   dS = P (dP - rowsum(dO O))
//   dV = P^T dO   dK = dS^T (scale Q)   dQ = scale dS K
//
// One task per (batch, kv head) takes its group's query heads in order, each key chunk by chunk, each chunk against the
// blocks of 96 rows that see it: every sum has one thread and one order.
//
// The five products take operands X: T, or pairs of bf16. A pair holds neighbours along the depth, so what is multiplied along
// its rows here and down its columns there is kept both ways: Q, dO and dS. Of pairs, Q carries no scale; S and dK get it.
#include <sextant/kernels/attention_chain.hpp>

#include <cmath>

namespace sextant::kernels::host {
namespace {
template <class T, class X>
class Backward {
 public:
  Backward(Problem<T> const& p, Gradients<T> const& g, Cursor memory)
      : p_(p),
        grad_(g),
        rows_(round_up(p.query_len, block_rows)),
        key_dim_(round_up(p.head_dim, width<T>)),
        value_dim_(round_up(p.value_dim, width<T>)),
        key_depth_(operands<X>(p.head_dim)),
        value_depth_(operands<X>(p.value_dim)),
        key_row_(round_up(key_depth_, width<T>)),
        value_row_(round_up(value_depth_, width<T>)) {
    carve(memory);
  }

  static std::size_t scratch(Problem<T> const& p, Gradients<T> const& g) {
    Backward measure(p, g, Cursor());
    Cursor counter;
    measure.carve(counter);
    return counter.used();
  }

  void run(int b, int kv_head) {
    b_ = b, kv_head_ = kv_head;
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    for (int g = 0; g < p_.group(); ++g) {
      h_ = kv_head * p_.group() + g;
      start(mask);
      HeadChain<T> const chain(p_, b_, h_);
      for (int col = 0; col < p_.key_len; col += chunk) keys(mask, chain, col, g > 0);
      for (int i = 0; i < p_.query_len; ++i) {
        T* const to = grad_.query.at(b_, h_, i);
        for (int d = 0; d < p_.head_dim; ++d) to[d] = grad_query_[std::int64_t(i) * key_dim_ + d] * p_.scale;
      }
    }
  }

 private:
  using Way = typename HeadChain<T>::Way;
  static constexpr int W = width<T>, R = block_rows, P = panel_width<T>;
  static constexpr int stride = chunk + 64 / static_cast<int>(sizeof(T));  // rows fall on different cache sets
  static constexpr int key_groups = (chunk + R - 1) / R;
  static constexpr int N = terms<X>;  // of the depth in an operand
  static constexpr bool exact = std::is_same_v<T, X>;
  static_assert(R % N == 0);

  void carve(Cursor& memory) {
    std::int64_t const rows = rows_;
    query_ = memory.take<X>(rows * key_row_);
    grad_out_ = memory.take<X>(rows * value_row_);
    grad_query_ = memory.take<T>(rows * key_dim_);
    dot_ = memory.take<T>(rows);
    log_sum_ = memory.take<T>(rows);
    weight_ = memory.take<T>(block * stride);
    grad_logit_ = memory.take<T>(block * stride);
    key_t_ = memory.take<X>(std::int64_t(chunk) * key_depth_);
    value_t_ = memory.take<X>(std::int64_t(chunk) * value_depth_);
    key_ = memory.take<X>(std::int64_t(chunk / N) * key_dim_);
    grad_key_ = memory.take<T>(std::int64_t(chunk) * key_dim_);
    grad_value_ = memory.take<T>(std::int64_t(chunk) * value_dim_);
    carve_operands(memory);
  }

  void carve_operands(Cursor& memory) {
    if constexpr (exact) {
      query_down_ = query_, grad_out_down_ = grad_out_;
      weight_down_ = weight_, grad_logit_along_ = grad_logit_down_ = grad_logit_;
    } else {
      query_down_ = memory.take<X>(std::int64_t(rows_ / N) * key_dim_);
      grad_out_down_ = memory.take<X>(std::int64_t(rows_ / N) * value_dim_);
      weight_down_ = memory.take<X>(block / N * stride);
      grad_logit_down_ = memory.take<X>(block / N * stride);
      grad_logit_along_ = memory.take<X>(block * stride / N);
      few_queries_ = memory.take<T>(N * N * key_row_);
      few_grads_ = memory.take<T>(N * N * value_row_);
    }
  }

  /// Query row i on its way to the operands: among them where they are numbers, else among the last few.
  T* query_row(int i) const {
    if constexpr (exact)
      return query_ + std::int64_t(i) * key_dim_;
    else
      return few_queries_ + i % N * N * key_row_;
  }
  T* grad_out_row(int i) const {
    if constexpr (exact)
      return grad_out_ + std::int64_t(i) * value_dim_;
    else
      return few_grads_ + i % N * N * value_row_;
  }

  /// The head's rows: scale * Q and dO with zeros behind them, rowsum(dO O) and log-sum-exp in log2 units.
  void start(MaskRow const& mask) {
    for (int i = 0; i < rows_; ++i) {
      start_row(mask, i);
      if constexpr (!exact)
        if (i % N == N - 1) {
          pair_rows(few_queries_, i - 1, key_row_, query_, key_dim_, query_down_);
          pair_rows(few_grads_, i - 1, value_row_, grad_out_, value_dim_, grad_out_down_);
        }
    }
    std::fill_n(grad_query_, std::int64_t(rows_) * key_dim_, T(0));
  }
  /// Rows i and i + 1, of N * row numbers each, as pairs along each and as pairs of one another.
  static void pair_rows(T const* from, int i, int row, X* along, int dim, X* down) {
    for (int r = 0; r < N; ++r) store_along(along + std::int64_t(i + r) * row, from + r * N * row, N * row);
    for (int d = 0; d < dim; d += W)
      store(down + std::int64_t(i / N) * dim + d, pairs_across(load(from + d), load(from + N * row + d)));
  }

  void start_row(MaskRow const& mask, int i) {
    T *const q = query_row(i), *const g = grad_out_row(i);
    std::fill_n(q, N * key_row_, T(0));
    std::fill_n(g, N * value_row_, T(0));
    dot_[i] = 0;
    log_sum_[i] = std::numeric_limits<T>::infinity();  // 2^(x - infinity) = 0: a row that saw nothing
    bool const padding = i >= p_.query_len || (mask.query_ids() && mask.query_ids()[i] < 0);
    T const* const log_sum_exp = p_.log_sum_exp_at(b_, h_);
    if (padding || log_sum_exp[i] == -std::numeric_limits<T>::infinity()) return;
    T const *const query = p_.query.at(b_, h_, i), *const grad = grad_.grad_out.at(b_, h_, i);
    T const* const out = grad_.out.at(b_, h_, i);
    if constexpr (exact) {
      for (int d = 0; d < p_.head_dim; ++d) q[d] = query[d] * p_.scale;
      std::copy_n(grad, p_.value_dim, g);
    } else {
      std::copy_n(query, p_.head_dim, q);
      for (int d = 0; d < p_.value_dim; ++d) g[d] = round_to_bf16(grad[d]);
    }
    Vec<T> dot{};
    for (int d = 0; d < p_.value_dim; d += W) dot += load(g + d) * load_part(out + d, p_.value_dim - d);
    dot_[i] = sum<T>(dot);
    log_sum_[i] = log_sum_exp[i] * T(log2_e);
  }

  /// All that one chunk of keys receives from the head, and what it gives to dQ.
  void keys(MaskRow const& mask, HeadChain<T> const& chain, int col, bool add) {
    cols_ = std::min(chunk, p_.key_len - col), col_ = col;
    key_ids_ = mask.key_range(col, cols_);
    std::fill_n(grad_key_, std::int64_t(chunk) * key_dim_, T(0));
    std::fill_n(grad_value_, std::int64_t(chunk) * value_dim_, T(0));
    packed_ = false;
    auto const way = chain.way(col);
    for (int row = 0; row < p_.query_len; row += block) {
      int const rows = std::min(block, p_.query_len - row);
      auto const part = mask.part(row, rows, mask.query_range(row, rows), col, cols_, key_ids_);
      if (part.begin < part.end && p_.visible(b_, row, rows, col, cols_)) block_of_rows(mask, chain, way, row, rows);
    }
    for (int j = 0; j < cols_; ++j) {
      T *const key = grad_.key.at(b_, kv_head_, col + j), *const value = grad_.value.at(b_, kv_head_, col + j);
      T const *const from_key = grad_key_ + j * key_dim_, *const from_value = grad_value_ + j * value_dim_;
      for (int d = 0; d < p_.head_dim; ++d) key[d] = add ? key[d] + scaled(from_key[d]) : scaled(from_key[d]);
      for (int d = 0; d < p_.value_dim; ++d) value[d] = add ? value[d] + from_value[d] : from_value[d];
    }
  }

  /// What Q entered without the scale.
  template <class Y>
  SEXTANT_INLINE Y scaled(Y y) const {
    if constexpr (exact)
      return y;
    else
      return y * p_.scale;
  }

  void pack(MaskRow const& mask) {
    if (packed_) return;
    packed_ = true;
    int const* const ids = mask.key_ids() ? mask.key_ids() + col_ : nullptr;
    T const *const key = p_.key.at(b_, kv_head_, col_), *const value = p_.value.at(b_, kv_head_, col_);
    pack_transposed(key, p_.key.row, cols_, chunk, p_.head_dim, ids, key_t_);
    pack_transposed(value, p_.value.row, cols_, chunk, p_.value_dim, ids, value_t_);
    pack_rows(key, p_.key.row, cols_, chunk, p_.head_dim, ids, key_);
  }

  void block_of_rows(MaskRow const& mask, HeadChain<T> const& chain, Way way, int row, int rows) {
    pack(mask);
    row_ = row, block_rows_ = rows, groups_ = (rows + R - 1) / R;
    for (int g = 0; g < groups_; ++g) {
      int const at = row + g * R, count = std::min(R, rows - g * R);
      auto& part = part_[g] = mask.part(at, count, mask.query_range(at, count), col_, chunk, key_ids_);
      part.begin = part.begin / P * P, part.end = round_up(part.end, W);
      clear_outside(g);
      logits(chain, way, at, count, g);
      weigh(mask, g);
      grad_logits(g);
    }
    Tile<T> const tile = p_.tile(b_, h_, row, rows, col_, cols_, weight_, stride);
    for (auto* link : p_.modifiers) link->backward(tile, grad_logit_, stride);
    spread();
  }

  void clear_outside(int g) {
    for (int r = g * R; r < g * R + R; ++r)
      for (T* x : {weight_ + r * stride, grad_logit_ + r * stride}) {
        std::fill(x, x + part_[g].begin, T(0));
        std::fill(x + part_[g].end, x + chunk, T(0));
      }
  }

  /// Of group g: rows [row, row + rows).
  void logits(HeadChain<T> const& chain, Way way, int row, int rows, int g) {
    if (way == Way::table) {
      auto const bias = chain.template table_rows<R>(row, rows, col_);
      return product(g, [&](auto r, int at, auto& x) SEXTANT_INLINE_LAMBDA { x += load(bias.row[r] + at); });
    }
    product(g, [](auto, int, auto&) SEXTANT_INLINE_LAMBDA {});
    if (way == Way::none) return;
    auto const part = part_[g];
    T* const to = weight_ + g * R * stride + part.begin;
    chain.call(row, rows, col_ + part.begin, std::min(part.end, cols_) - part.begin, to, stride);
  }
  template <class Add>
  void product(int g, Add const& add) {
    int const depth = key_depth_;
    T* const to = weight_ + g * R * stride;
    X const* const query = query_ + std::int64_t(row_ + g * R) * key_row_;
    for (int j = part_[g].begin; j < part_[g].end; j += P)
      with_vectors((part_[g].end - j) / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
        block_product<T, R, vectors>(query, key_row_, 1, key_t_ + j * depth, P, depth,
                                     [&](auto r, auto const& x) SEXTANT_INLINE_LAMBDA {
                                       unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA {
                                         Vec<T> y = scaled(x[v]);
                                         add(r, j + v * W, y);
                                         store(to + r * stride + j + v * W, y);
                                       });
                                     });
      });
  }

  /// Hidden logits to -infinity, then logits to weights.
  void weigh(MaskRow const& mask, int g) {
    auto const part = part_[g];
    T* const x = weight_ + g * R * stride;
    int const row = row_ + g * R;
    if (part.masked) mask.hide(x, stride, row, std::min(R, block_rows_ - g * R), col_, part.begin, part.end);
    for (int r = 0; r < R; ++r) {
      T const log_sum = log_sum_[row + r];
      for (int j = part.begin; j < part.end; j += W)
        store(x + r * stride + j, exp2<T>(load(x + r * stride + j) * T(log2_e) - log_sum));
    }
  }

  void grad_logits(int g) {
    int const depth = value_depth_;
    T const* const weight = weight_ + g * R * stride;
    T* const to = grad_logit_ + g * R * stride;
    T const* const dot = dot_ + row_ + g * R;
    X const* const grad = grad_out_ + std::int64_t(row_ + g * R) * value_row_;
    for (int j = part_[g].begin; j < part_[g].end; j += P)
      with_vectors((part_[g].end - j) / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
        block_product<T, R, vectors>(grad, value_row_, 1, value_t_ + j * depth, P, depth,
                                     [&](auto r, auto const& x) SEXTANT_INLINE_LAMBDA {
                                       unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA {
                                         Vec<T> const p = load(weight + r * stride + j + v * W);
                                         store(to + r * stride + j + v * W, p * (x[v] - dot[r]));
                                       });
                                     });
      });
    if constexpr (!exact) pair_tiles(g);
  }
  /// The weights and dS of a group as operands of spread().
  void pair_tiles(int g) {
    for (int r = g * R; r < g * R + R; r += N) {
      T const *const p = weight_ + r * stride, *const s = grad_logit_ + r * stride;
      X *const p_down = weight_down_ + r / N * stride, *const s_down = grad_logit_down_ + r / N * stride;
      for (int j = 0; j < chunk; j += W) {
        store(p_down + j, pairs_across(load(p + j), load(p + stride + j)));
        store(s_down + j, pairs_across(load(s + j), load(s + stride + j)));
      }
      for (int k = 0; k < N; ++k) store_along(grad_logit_along_ + (r + k) * (stride / N), s + k * stride, chunk);
    }
  }

  /// dV += P^T dO, dK += dS^T Q and dQ += dS K for the block.
  void spread() {
    for (int k = 0; k < key_groups; ++k) {
      auto const sees = [&](int g) { return part_[g].begin < k * R + R && part_[g].end > k * R; };
      int first = 0, last = groups_;
      while (first < last && !sees(first)) ++first;
      while (last > first && !sees(last - 1)) --last;
      seen_[k] = {first * R, last * R};
    }
    transposed(weight_down_, grad_out_down_ + std::int64_t(row_ / N) * value_dim_, value_dim_, grad_value_);
    transposed(grad_logit_down_, query_down_ + std::int64_t(row_ / N) * key_dim_, key_dim_, grad_key_);
    for (int g = 0; g < groups_; ++g) {
      auto const part = part_[g];
      for (int d = 0; d < key_dim_ && part.begin < part.end; d += P) {
        int const wide = std::min(P, key_dim_ - d);
        with_vectors(wide / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
          block_add<T, R, vectors>(grad_logit_along_ + (g * R * stride + part.begin) / N, stride / N, 1,
                                   key_ + d * (chunk / N) + part.begin / N * wide, wide, (part.end - part.begin) / N,
                                   grad_query_ + std::int64_t(row_ + g * R) * key_dim_ + d, key_dim_);
        });
      }
    }
  }

  /// to[chunk, dim] += a[block, chunk]^T b[block, dim], each group of keys over the rows that see it.
  void transposed(X const* a, X const* b, int dim, T* to) const {
    constexpr int last = key_groups - 1, tail = chunk - last * R;
    for (int d = 0; d < dim; d += P)
      with_vectors(std::min(P, dim - d) / W, [&](auto vectors) SEXTANT_INLINE_LAMBDA {
        for (int k = 0; k < last; ++k) key_rows<R, vectors>(a, b + d, dim, to + d, k);
        key_rows<tail, vectors>(a, b + d, dim, to + d, last);
      });
  }
  template <int Keys, int V>
  void key_rows(X const* a, X const* b, int dim, T* to, int k) const {
    int const begin = seen_[k].begin / N, end = seen_[k].end / N;
    block_add<T, Keys, V>(a + begin * stride + k * R, 1, stride, b + std::int64_t(begin) * dim, dim, end - begin,
                          to + k * R * dim, dim);
  }

  Problem<T> const& p_;
  Gradients<T> const& grad_;
  int const rows_, key_dim_, value_dim_;  // padded: to whole groups, whole vectors
  int const key_depth_, value_depth_;     // operands along a row of Q and K, of dO and V
  int const key_row_, value_row_;         // the same in whole vectors
  int b_ = 0, h_ = 0, kv_head_ = 0, col_ = 0, cols_ = 0, row_ = 0, block_rows_ = 0, groups_ = 0;
  bool packed_ = false;
  Span key_ids_ = {}, seen_[key_groups] = {};
  MaskRow::Part part_[block / block_rows] = {};
  X *query_, *grad_out_;            // [rows, key_row or value_row]
  X *query_down_, *grad_out_down_;  // [rows / N, dim]; `down`: along the columns, for numbers the same memory
  T* grad_query_;                   // [rows, dim]
  T *dot_, *log_sum_;               // [rows]
  T *weight_, *grad_logit_;         // [block, stride]: logits, then P; dS
  X *weight_down_, *grad_logit_down_, *grad_logit_along_;  // [block / N, stride]; [block, stride / N]
  X *key_t_, *value_t_, *key_;                             // panels of the chunk
  T *grad_key_, *grad_value_;                              // [chunk, dim]
  T *few_queries_ = nullptr, *few_grads_ = nullptr;        // [N, N * key_row or value_row]
};

template <class X, class T>
void backward_of(Problem<T> const& p, Gradients<T> const& g, Workshop const& shop) {
  shop.reserve_each(Backward<T, X>::scratch(p, g));
  shop.run("sextant::attention_backward", std::int64_t(p.batch) * p.kv_heads, [&](int worker, std::int64_t task) {
    Backward<T, X>(p, g, Cursor((*shop.own)[static_cast<std::size_t>(worker)].data()))
        .run(static_cast<int>(task / p.kv_heads), static_cast<int>(task % p.kv_heads));
  });
}
}  // namespace

template <class T>
void backward(Problem<T> const& p, Gradients<T> const& g, Workshop const& shop) {
  with_operands(p, [&](auto x) { backward_of<decltype(x)>(p, g, shop); });
}

template void backward(Problem<float> const&, Gradients<float> const&, Workshop const&);
template void backward(Problem<double> const&, Gradients<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
