// A strip of one query head at work: its logits from the products or from the link that multiplies, what hides them, and
// the chain of tile modifiers over them. The forward and the backward pass form the same logits through it.
#pragma once
#include <sextant/kernels/attention_strip_keys.hpp>

namespace sextant::kernels::host {

/// Keys [begin, end) of the strip that were formed alike.
struct Run {
  int begin, end;
  int branch;  ///< or BranchRule::mixed
};

template <class T>
class HeadStrip {
 public:
  HeadStrip(Problem<T> const& p, int rows, Cursor& memory);

  /// Rows [row, row + rows) of query head h of batch row b against keys [0, cols), cols > 0.
  void open(int b, int h, int row, int rows, int cols, StripKeys<T> const* keys);
  /// Logits before the links: products, and -infinity where the mask or the rule hides. Columns are defined up to the
  /// end of the last chunk.
  void form(MaskRow const& mask);
  /// The tile modifiers; afterwards everything hidden is -infinity again.
  void modify(MaskRow const& mask);
  /// Their backward, tile by tile as in modify().
  void modify_backward(T const* grad) const;
  /// The products' backward: grad[rows, stride] is d loss / d logit before the links, 0 on hidden pairs. Adds to `out`,
  /// and what the keys of products receive to `sums`.
  void multiply_backward(T const* grad, std::vector<Branch<T>> const& out, std::vector<Rows<T>> const& sums) const;
  /// After the head's last strip, when a link multiplies for it.
  void multiply_finish(int b, int h, Branch<T> const& out);

  /// The strip as link n of the chain gets it.
  Strip<T> strip(int n) const;
  Operands<T> operands() const { return operands(0); }
  /// Rows and keys of the head in `out`, the gradients of branch 0.
  OperandGradients<T> gradients(Branch<T> const& out) const;

  T* logit() const { return logit_; }
  std::ptrdiff_t stride() const { return stride_; }
  int rows() const { return rows_; }
  int head() const { return h_; }
  int kv_head() const { return h_ / p_.group(); }
  StripKeys<T> const& keys() const { return *keys_; }
  /// f(begin, end) for stretches of neighbouring chunks that some row sees after modify(). What lies behind the last
  /// key up to the end of its chunk is hidden.
  template <class F>
  void for_seen(F&& f) const {
    for_stretches(std::numeric_limits<int>::max(), f);
  }
  /// Zeros in the other chunks of x[rows, stride].
  void fill_unseen(T* x) const;

 private:
  struct Chunk {
    int begin, end;  ///< visible part; empty: hidden wholly
    bool masked;     ///< by the mask, in part
    bool seen;       ///< some modifier did not hide it
    int branch;
  };

  template <class F>
  void for_stretches(int limit, F&& f) const {
    int const chunks = blocks_of(cols_, chunk);
    for (int c = 0, n; c < chunks; c += n) {
      n = 1;
      if (!chunk_[c].seen) continue;
      while (c + n < chunks && chunk_[c + n].seen && n < limit / chunk) ++n;
      f(c * chunk, std::min((c + n) * chunk, cols_));
    }
  }
  template <class F>
  void for_runs(F&& f) const;
  Operands<T> operands(int branch) const;
  RowLink<T>* multiplier(int& n) const;
  T* query(int branch) const { return query_ + std::ptrdiff_t(branch) * rows_ * p_.head_dim; }
  void load_queries();
  void spread(Run const& run, int branch, T const* slope, std::ptrdiff_t stride, int origin,
              std::vector<Branch<T>> const& out, std::vector<Rows<T>> const& sums) const;
  void plan(MaskRow const& mask);
  void mixed_product(Run const& run);
  void select(Run const& run);
  int present(Run const& run, int branch) const;
  void hide(MaskRow const& mask);
  bool visible(int c) const;
  Tile<T> tile(int begin, int end) const;

  Problem<T> const& p_;
  int b_ = 0, h_ = 0, row_ = 0, rows_ = 0, cols_ = 0;
  std::ptrdiff_t stride_, notes_size_;
  StripKeys<T> const* keys_ = nullptr;
  T *logit_, *notes_;    // [rows, stride]; as many times the links' notes
  T *query_, *spare_;    // [branches, rows, head_dim], times the scale; [rows, chunk]
  signed char* choice_;  // [chunks, rows, chunk]: branches of mixed chunks
  Chunk* chunk_;
};

}  // namespace sextant::kernels::host
