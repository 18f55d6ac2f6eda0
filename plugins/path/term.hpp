// PaTH at work on strips of logits. A query row x starts as q_i and walks from right to left over the keys: where it
// stands before key j, the logit is s k_j . x; passing the key makes it H_j x. Whole chunks are passed at once.
#pragma once
#include "chunk.hpp"

#include <sextant/kernels/row_math.hpp>
#include <sextant/plugin.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace sextant::plugins::path {
using encoding::RowTerm;
using encoding::Tensors;
using kernels::OperandGradients;
using kernels::Operands;
using kernels::Strip;

/// out[rows, width] = in; rows that hold a number which is not finite become 0 when `clean`: in a backward a hidden
/// pair's gradient of 0 must not meet NaN.
template <class T>
void copy_rows(T const* in, std::ptrdiff_t stride, int rows, int width, bool clean, T* out) {
  for (int r = 0; r < rows; ++r, in += stride, out += width) {
    bool finite = true;
    for (int c = 0; c < width; ++c) finite &= std::isfinite(in[c]);
    if (finite || !clean)
      std::copy_n(in, width, out);
    else
      std::fill_n(out, width, T(0));
  }
}

/// Takes O(L (D + 64)) memory per head at work and O(L D) time per row. The first strip that needs a chunk builds it;
/// a head's chunks are let go when its last row is answered. Few queries, as in decoding, walk key by key instead.
template <class T>
class Term final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  /// Up to this many queries of a call walk key by key.
  static constexpr int few_queries = 8;

  Term(int width, double l2_eps, bool forget, bool gate_scaled)
      : width_(width), l2_eps_(l2_eps), forget_(forget), gate_scaled_(gate_scaled) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    heads_.clear();
    for (int n = 0; n < in.batch * in.heads; ++n) heads_.push_back(std::make_unique<HeadState>());
  }
  void finish(Tensors&) override { heads_.clear(); }

  bool multiplies(int head) const override { return in_.covers(head); }

  void multiply(Strip<T> const& strip, Operands<T> const& operands) const override {
    expect(operands.dim >= width_, "path acts on whole heads: query and key have ", operands.dim,
           " channels, expected its ", width_);
    if (in_.query_len <= few_queries) return walk(strip, operands);
    HeadState& head = head_of(strip.batch, strip.head);
    build_chunks(head, strip, operands);
    std::vector<T> memory(static_cast<std::size_t>(strip.rows) * (width_ + chunk_keys));
    T *x = memory.data(), *y = x + strip.rows * width_;
    copy_rows(operands.query, operands.query_stride, strip.rows, width_, false, x);
    std::vector<T> loose;
    for (int n = chunks_of(strip.cols) - 1; n >= 0; --n) {
      Chunk<T> const c = chunk_for(head, strip, operands, n, loose);
      Block const at{n * chunk_keys, own_key(strip) - n * chunk_keys, strip.rows};
      score(c, at, x, y, operands.scale, strip.logit + at.begin, strip.stride);
      if (n > 0) pass(c, at, y, x, x);
    }
    release_when_done(head, strip.rows);
  }

  void multiply_backward(Strip<T> const& strip, Operands<T> const& operands, T const* grad,
                         OperandGradients<T> const& out) override {
    HeadState& head = head_of(strip.batch, strip.head);
    build_chunks(head, strip, operands);
    head.gradient.resize(head.values.size());
    // The walk again, keeping each x and y; then from left to right with d loss / d x.
    int const chunks = chunks_of(strip.cols), rows = strip.rows;
    std::size_t const x_size = static_cast<std::size_t>(rows) * width_, y_size = std::size_t(rows) * chunk_keys;
    std::vector<T> memory(chunks * (x_size + y_size) + x_size + y_size), loose, loose_gradient;
    auto const x_at = [&](int n) { return memory.data() + n * (x_size + y_size); };
    auto const y_at = [&](int n) { return x_at(n) + x_size; };
    T *const grad_x = x_at(chunks), *const grad_y = y_at(chunks);
    copy_rows(operands.query, operands.query_stride, rows, width_, true, x_at(chunks - 1));
    for (int n = chunks - 1; n >= 0; --n) {
      Chunk<T> const c = chunk_for(head, strip, operands, n, loose);
      Block const at{n * chunk_keys, own_key(strip) - n * chunk_keys, rows};
      seen(c, at, x_at(n), y_at(n));
      if (n > 0) pass(c, at, y_at(n), x_at(n), x_at(n - 1));
    }
    for (int n = 0; n < chunks; ++n) {
      Chunk<T> const c = chunk_for(head, strip, operands, n, loose);
      bool const whole = is_whole(n, strip.cols);
      if (!whole) loose_gradient.assign(Chunk<T>::size(width_), T(0));
      Chunk<T> const g(whole ? head.gradient.data() + n * Chunk<T>::size(width_) : loose_gradient.data(), c.keys,
                       width_);
      Block const at{n * chunk_keys, own_key(strip) - n * chunk_keys, rows};
      score_backward(c, g, at, {x_at(n), y_at(n), grad_x, grad_y}, operands.scale, grad + at.begin, strip.stride);
      if (!whole) deliver(strip.batch, strip.head, n, c, g, out);
    }
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < width_; ++k) out.query[r * out.query_stride + k] += grad_x[r * width_ + k];
  }

  void multiply_finish(int batch, int head_index, Operands<T> const&, OperandGradients<T> const& out) override {
    HeadState& head = head_of(batch, head_index);
    for (std::size_t n = 0; n < head.built.size(); ++n)
      if (head.built[n]) {
        std::size_t const at = n * Chunk<T>::size(width_);
        int const keys = keys_of(static_cast<int>(n));
        deliver(batch, head_index, static_cast<int>(n), Chunk<T>(head.values.data() + at, keys, width_),
                Chunk<T>(head.gradient.data() + at, keys, width_), out);
      }
    head = HeadState{};
  }

  /// Forgetting: adds C_i - C_j.
  void forward(Strip<T> const& strip, Operands<T> const& operands) const override {
    if (!forget_ || !in_.covers(strip.head)) return;
    int const h = strip.head - in_.head_begin;
    double const* query = in_.query_gates[1].row(strip.batch, h) + strip.row;
    double const* key = in_.key_gates[1].row(strip.batch, h);
    double const factor = gate_scaled_ ? operands.scale : 1;
    for (int r = 0; r < strip.rows; ++r) {
      T* logit = strip.logit + r * strip.stride;
      for (int j = 0; j < strip.cols; ++j)
        if (logit[j] != hidden) logit[j] += static_cast<T>(factor * (query[r] - key[j]));
    }
  }
  void backward(Strip<T> const& strip, Operands<T> const& operands, T* grad, OperandGradients<T> const&) override {
    if (!forget_ || !in_.covers(strip.head)) return;
    int const h = strip.head - in_.head_begin;
    double* query = in_.query_gate_gradient[1].row(strip.batch, h) + strip.row;
    double* key = in_.key_gate_gradient[1].row(strip.batch, h);
    double const factor = gate_scaled_ ? operands.scale : 1;
    for (int r = 0; r < strip.rows; ++r) {
      T const* row = grad + r * strip.stride;
      query[r] += factor * kernels::row_sum<double>(strip.cols, [row](int j) { return double(row[j]); });
      for (int j = 0; j < strip.cols; ++j) key[j] -= factor * row[j];
    }
  }

 private:
  static constexpr T hidden = -std::numeric_limits<T>::infinity();

  struct HeadState {
    std::unique_ptr<std::mutex> lock = std::make_unique<std::mutex>();
    std::vector<T> values, gradient;  ///< chunk after chunk
    std::vector<char> built;
    int rows_done = 0;
  };
  /// Where a chunk lies: its first key, and the own key of the strip's first row counted from there.
  struct Block {
    int begin, own, rows;
    /// Every row has passed, or stands at, the chunk's last key.
    bool behind(int keys) const { return own >= keys - 1; }
  };
  struct Walk {
    T *x, *y, *grad_x, *grad_y;
  };

  int own_key(Strip<T> const& strip) const { return in_.key_len - in_.query_len + strip.row; }
  int keys_of(int n) const { return std::min(chunk_keys, in_.key_len - n * chunk_keys); }
  static int chunks_of(int keys) { return kernels::blocks_of(keys, chunk_keys); }
  /// All keys of chunk n are among the first `cols`.
  bool is_whole(int n, int cols) const { return n * chunk_keys + keys_of(n) <= cols; }
  HeadState& head_of(int batch, int head) const {
    return *heads_[static_cast<std::size_t>(batch) * in_.heads + (head - in_.head_begin)];
  }

  /// w and beta of a key, from its features and gate: H = I for what is not finite (padding).
  T const* feature(int batch, int h, int key) const {
    return in_.features[0].row(batch, h) + std::ptrdiff_t(key) * width_;
  }
  T beta(int batch, int h, int key) const { return static_cast<T>(in_.key_gates[0].row(batch, h)[key]); }
  /// 1 / sqrt(|f|^2 + eps), or 0 where f or beta is not finite.
  T inverse_norm(T const* f, T b) const {
    T const square = kernels::row_sum<T>(width_, [f](int k) { return f[k] * f[k]; });
    return std::isfinite(square) && std::isfinite(b) ? T(1) / std::sqrt(square + static_cast<T>(l2_eps_)) : T(0);
  }

  void fill(Chunk<T> const& c, int batch, int head, int begin, Operands<T> const& operands) const {
    int const h = head - in_.head_begin;
    copy_rows(operands.key + begin * operands.key_stride, operands.key_stride, c.keys, width_, in_.want_gradient,
              c.key);
    for (int j = 0; j < c.keys; ++j) {
      T const *f = feature(batch, h, begin + j), b = beta(batch, h, begin + j), r = inverse_norm(f, b);
      c.beta[j] = r > 0 ? b : T(0);
      for (int k = 0; k < width_; ++k) c.w[j * width_ + k] = r > 0 ? r * f[k] : T(0);
    }
    build(c);
  }

  /// Builds what is missing of the chunks that lie whole among the strip's keys.
  void build_chunks(HeadState& head, Strip<T> const& strip, Operands<T> const& operands) const {
    std::lock_guard const guard(*head.lock);
    if (head.built.empty()) {
      head.built.assign(chunks_of(in_.key_len), 0);
      head.values.resize(head.built.size() * Chunk<T>::size(width_));
    }
    for (int n = 0; n < chunks_of(strip.cols); ++n)
      if (is_whole(n, strip.cols) && !head.built[n]) {
        Chunk<T> const c(head.values.data() + n * Chunk<T>::size(width_), keys_of(n), width_);
        fill(c, strip.batch, strip.head, n * chunk_keys, operands);
        head.built[n] = 1;
      }
  }
  /// Chunk n of the strip: the head's, or in `loose` as far as the strip's keys reach.
  Chunk<T> chunk_for(HeadState& head, Strip<T> const& strip, Operands<T> const& operands, int n,
                     std::vector<T>& loose) const {
    if (is_whole(n, strip.cols)) return {head.values.data() + n * Chunk<T>::size(width_), keys_of(n), width_};
    loose.resize(Chunk<T>::size(width_));
    Chunk<T> const c(loose.data(), strip.cols - n * chunk_keys, width_);
    fill(c, strip.batch, strip.head, n * chunk_keys, operands);
    return c;
  }
  void release_when_done(HeadState& head, int rows) const {
    if (in_.want_gradient) return;  // multiply_finish() does
    std::lock_guard const guard(*head.lock);
    head.rows_done += rows;
    if (head.rows_done < in_.query_len) return;
    head.rows_done = 0;
    head.values = {};
    head.built.clear();
  }

  /// y = x W^T, without the keys that come after a row's own.
  void seen(Chunk<T> const& c, Block const& at, T const* x, T* y) const {
    small_nt(x, width_, at.rows, c.w, width_, c.keys, width_, T(1), y, chunk_keys);
    hide_later(c, at, y);
  }
  void hide_later(Chunk<T> const& c, Block const& at, T* y) const {
    if (at.behind(c.keys)) return;
    for (int r = 0; r < at.rows; ++r) {
      int const known = std::clamp(at.own + r + 1, 0, c.keys);
      std::fill(y + r * chunk_keys + known, y + r * chunk_keys + c.keys, T(0));
    }
  }
  void score(Chunk<T> const& c, Block const& at, T const* x, T* y, T scale, T* logit, std::ptrdiff_t stride) const {
    seen(c, at, x, y);
    bool const behind = at.behind(c.keys);
    small_nt(x, width_, at.rows, behind ? c.carried : c.key, width_, c.keys, width_, scale, logit, stride);
    if (!behind) small_nt(y, chunk_keys, at.rows, c.upper, chunk_keys, c.keys, c.keys, -scale, logit, stride, true);
  }
  /// out = x - y V
  void pass(Chunk<T> const& c, Block const& at, T const* y, T const* x, T* out) const {
    if (out != x) std::copy_n(x, static_cast<std::size_t>(at.rows) * width_, out);
    small_nn(y, chunk_keys, at.rows, c.left, width_, width_, c.keys, T(-1), out, width_, true);
  }
  /// walk.grad_x: d loss / d (x after the chunk) on entry, d loss / d (x before it) on return.
  void score_backward(Chunk<T> const& c, Chunk<T> const& g, Block const& at, Walk const& walk, T scale, T const* grad,
                      std::ptrdiff_t stride) const {
    int const n = c.keys, rows = at.rows;
    small_nt(walk.grad_x, width_, rows, c.left, width_, n, width_, T(-1), walk.grad_y, chunk_keys);
    small_tn(walk.y, chunk_keys, n, walk.grad_x, width_, width_, rows, T(-1), g.left, width_, true);
    bool const behind = at.behind(n);
    small_nn(grad, stride, rows, behind ? c.carried : c.key, width_, width_, n, scale, walk.grad_x, width_, true);
    small_tn(grad, stride, n, walk.x, width_, width_, rows, scale, behind ? g.carried : g.key, width_, true);
    if (!behind) {
      small_nn(grad, stride, rows, c.upper, chunk_keys, n, n, -scale, walk.grad_y, chunk_keys, true);
      small_tn(grad, stride, n, walk.y, chunk_keys, n, rows, -scale, g.upper, chunk_keys, true);
    }
    hide_later(c, at, walk.grad_y);
    small_nn(walk.grad_y, chunk_keys, rows, c.w, width_, width_, n, T(1), walk.grad_x, width_, true);
    small_tn(walk.grad_y, chunk_keys, n, walk.x, width_, width_, rows, T(1), g.w, width_, true);
  }

  /// Hands a chunk's gradients on to keys, features and gates.
  void deliver(int batch, int head, int n, Chunk<T> const& c, Chunk<T> const& g, OperandGradients<T> const& out) {
    push_back(c, g);
    int const h = head - in_.head_begin, begin = n * chunk_keys;
    for (int j = 0; j < c.keys; ++j) {
      int const key = begin + j;
      for (int k = 0; k < width_; ++k) out.key[key * out.key_stride + k] += g.key[j * width_ + k];
      T const r = inverse_norm(feature(batch, h, key), beta(batch, h, key));
      if (r == 0) continue;
      in_.key_gate_gradient[0].row(batch, h)[key] += g.beta[j];
      T const *w = c.w + j * width_, *grad_w = g.w + j * width_;
      T const along = kernels::row_sum<T>(width_, [=](int k) { return w[k] * grad_w[k]; });
      T* grad_f = in_.feature_gradient[0].row(batch, h) + std::ptrdiff_t(key) * width_;
      for (int k = 0; k < width_; ++k) grad_f[k] += r * (grad_w[k] - along * w[k]);
    }
  }

  /// Key by key: O(L D) for a row, nothing kept.
  void walk(Strip<T> const& strip, Operands<T> const& operands) const {
    int const h = strip.head - in_.head_begin, own = own_key(strip);
    std::vector<T> rows(static_cast<std::size_t>(strip.rows) * width_);
    copy_rows(operands.query, operands.query_stride, strip.rows, width_, false, rows.data());
    for (int j = strip.cols - 1; j >= 0; --j) {
      T const *key = operands.key + j * operands.key_stride, *f = feature(strip.batch, h, j);
      T const b = beta(strip.batch, h, j), norm = inverse_norm(f, b);
      for (int r = 0; r < strip.rows; ++r) {
        T* x = rows.data() + r * width_;
        T const dot = kernels::row_sum<T>(width_, [=](int k) { return key[k] * x[k]; });
        strip.logit[r * strip.stride + j] = operands.scale * dot;
        if (j > own + r || norm == 0) continue;
        T const step = b * norm * norm * kernels::row_sum<T>(width_, [=](int k) { return f[k] * x[k]; });
        for (int k = 0; k < width_; ++k) x[k] -= step * f[k];
      }
    }
  }

  int width_;
  double l2_eps_;
  bool forget_, gate_scaled_;
  Inputs in_;
  std::vector<std::unique_ptr<HeadState>> heads_;
};

}  // namespace sextant::plugins::path
