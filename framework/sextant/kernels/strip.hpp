// The contract between attention and methods that need whole rows: scans along a row, products other than q . k, terms on
// the values, terms across heads. Attention then works in strips: a few query rows against all keys that they see.
#pragma once
#include <cstddef>
#include <span>

namespace sextant::kernels {

/// Whole rows of one query head while attention works on them. What a strip holds is O(rows * cols), never length^2.
template <class T>
struct Strip {
  int batch, head;  ///< head counts query heads
  int row, rows;    ///< index of the first query in its array, number of queries
  int cols;         ///< keys [0, cols): every key that some row of the strip sees lies among them
  T* logit;         ///< [rows, stride], natural units; -infinity marks a pair that the mask hides
  std::ptrdiff_t stride;
  double const* query_position;  ///< of the strip's rows
  double const* key_position;    ///< of keys [0, cols)
  T* notes;                      ///< RowLink::notes() arrays [rows, stride] that forward() fills for backward()
  std::ptrdiff_t notes_size;     ///< elements from one of these arrays to the next
  T* note(int n) const { return notes + n * notes_size; }
};

/// Query rows of the strip and keys [0, cols) of its head as the product sees them (turned; not yet scaled).
template <class T>
struct Operands {
  T const *query, *key;
  std::ptrdiff_t query_stride, key_stride;
  int dim;
  T scale;  ///< what multiplies query . key
};
/// Where their gradients are added to.
template <class T>
struct OperandGradients {
  T *query, *key;
  std::ptrdiff_t query_stride, key_stride;
};

/// One link that works on whole rows. Attention calls, for each strip: multiply() of the link that multiplies (or its own
/// scaled q . k), then hides masked pairs, then forward() of every link in order, then the tile modifiers, softmax,
/// and values() of every link. Strips of one (batch, kv head) come from one thread in a fixed order in the backward, and
/// from any thread in the forward; so whatever a link accumulates is kept apart per (batch, query head) and reduced
/// in a fixed order afterwards. Key gradients of the query heads of one key head are added by one thread.
template <class T>
class RowLink {
 public:
  virtual ~RowLink() = default;

  /// Arrays of a strip's size that this link keeps from forward() to backward().
  virtual int notes() const { return 0; }
  /// True: calls come with the strips of all query heads of a batch row at once, in order.
  virtual bool across_heads() const { return false; }

  /// Adds to the logits in place. Hidden pairs are -infinity on entry and must stay so.
  virtual void forward(Strip<T> const& strip, Operands<T> const& operands) const { (void)strip, (void)operands; }
  /// grad[rows, strip.stride]: d loss / d logit after forward() on entry, before it on return; 0 on hidden pairs, on
  /// return too. strip.logit is undefined, the notes are as forward() left them. Adds what flows to query and key.
  virtual void backward(Strip<T> const& strip, Operands<T> const& operands, T* grad, OperandGradients<T> const& out) {
    (void)strip, (void)operands, (void)grad, (void)out;
  }
  /// The same for across_heads(): one entry a query head.
  virtual void forward_heads(std::span<Strip<T> const> heads, std::span<Operands<T> const> operands) const {
    for (std::size_t h = 0; h < heads.size(); ++h) forward(heads[h], operands[h]);
  }
  virtual void backward_heads(std::span<Strip<T> const> heads, std::span<Operands<T> const> operands,
                              std::span<T* const> grad, std::span<OperandGradients<T> const> out) {
    for (std::size_t h = 0; h < heads.size(); ++h) backward(heads[h], operands[h], grad[h], out[h]);
  }

  /// True for at most one link of a chain and the heads that multiplies(head) names: it forms the logits itself.
  virtual bool multiplies(int head) const {
    (void)head;
    return false;
  }
  /// Overwrites strip.logit for keys [0, cols), hidden pairs included (any finite number there).
  virtual void multiply(Strip<T> const& strip, Operands<T> const& operands) const { (void)strip, (void)operands; }
  /// grad[rows, strip.stride] is d loss / d logit, 0 on hidden pairs. Adds to `out`.
  virtual void multiply_backward(Strip<T> const& strip, Operands<T> const& operands, T const* grad,
                                 OperandGradients<T> const& out) {
    (void)strip, (void)operands, (void)grad, (void)out;
  }
  /// After the last multiply_backward() of a (batch, query head), from the same thread, also when every strip of it was
  /// skipped: the place to push on what was accumulated over the strips. Both name all keys of the head (the queries
  /// are of no use here).
  virtual void multiply_finish(int batch, int head, Operands<T> const& operands, OperandGradients<T> const& out) {
    (void)batch, (void)head, (void)operands, (void)out;
  }

  virtual bool adds_to_values() const { return false; }
  /// strip.logit holds the softmax weights, rows sum to 1 (or are all 0). Adds to out[rows, out_stride].
  virtual void values(Strip<T> const& strip, T* out, std::ptrdiff_t out_stride, int value_dim) const {
    (void)strip, (void)out, (void)out_stride, (void)value_dim;
  }
  /// grad_weight[rows, strip.stride] += d loss / d weight through values(); accumulates the link's own gradients.
  virtual void values_backward(Strip<T> const& strip, T const* grad_out, std::ptrdiff_t grad_stride, int value_dim,
                               T* grad_weight) {
    (void)strip, (void)grad_out, (void)grad_stride, (void)value_dim, (void)grad_weight;
  }
};

/// Which of several products a pair's logit comes from, for methods that meet near and far keys at different angles.
class BranchRule {
 public:
  static constexpr int hidden = -1;  ///< the pair is masked
  static constexpr int mixed = -2;   ///< pairs of the block differ: ask select()
  virtual ~BranchRule() = default;
  /// The branch of every pair of the block, or `hidden`, or `mixed`. Positions of `rows` queries and `cols` keys.
  virtual int uniform(int head, double const* query, int rows, double const* key, int cols) const = 0;
  /// out[rows, cols]: the branch of each pair, or `hidden`.
  virtual void select(int head, double const* query, int rows, double const* key, int cols, signed char* out) const = 0;
};

}  // namespace sextant::kernels
