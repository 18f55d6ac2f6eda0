// Attention whose memory grows with the length, not its square: blocked, online softmax, recomputed in the backward.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/precision.hpp>
#include <sextant/kernels/strip.hpp>
#include <sextant/kernels/tile.hpp>

#include <memory>
#include <vector>

namespace sextant::kernels {

/// Which keys a query sees. Everything here is by index in the arrays; positions play no part in it.
/// Query i's own key is i + (key_len - query_len): the last query's is the last key.
struct Mask {
  /// Key j is visible iff j <= own.
  bool causal = true;
  /// 0: no limit. n: only keys with |own - j| < n; with causal, the last n up to and including the own one.
  int window = 0;
  /// [batch, query_len] and [batch, key_len], or both empty. Visible only within equal ids; a negative id marks
  /// padding, which sees nothing and is seen by nothing.
  View2<int> query_document, key_document;
};

template <class T>
struct AttentionInput {
  Heads<T const> query;                        ///< [batch, heads, query_len, head_dim]
  Heads<T const> key;                          ///< [batch, kv_heads, key_len, head_dim]; kv_heads divides heads
  Heads<T const> value;                        ///< [batch, kv_heads, key_len, value_dim]
  View2<double> query_position, key_position;  ///< [batch or 1, len] in tokens; may be empty without modifiers
  Mask mask;
  double scale = 0;                         ///< multiplies query . key; 0 means 1 / sqrt(head_dim)
  std::vector<TileModifier<T>*> modifiers;  ///< applied in this order after the scale and before the mask
  std::vector<RowLink<T>*> rows;            ///< methods that need whole rows; see strip.hpp
  /// Branches 1, 2, ... of methods that meet keys at several angles; branch 0 is `query` and `key`, whose shapes they
  /// share. Empty: one product for all pairs.
  std::vector<Heads<T const>> more_query, more_key;
  BranchRule const* branch_rule = nullptr;  ///< required with more_query; may also only hide pairs
  /// bf16, of float alone: query, key and value hold numbers of bf16 already (round_heads_to_bf16), and products may take
  /// the weights, and in a backward grad_out and the gradients of logits, rounded as well; see attention_forward.
  Precision precision = Precision::fp32;
};

/// Gradients of the branches 1, 2, ... of an input.
template <class T>
struct BranchGradients {
  std::vector<Heads<T>> query, key;
};

/// Scratch that survives between calls, so that a training step allocates nothing. One per caller, not shared.
class AttentionWorkspace {
 public:
  AttentionWorkspace();
  ~AttentionWorkspace();
  AttentionWorkspace(AttentionWorkspace&&) noexcept;
  AttentionWorkspace& operator=(AttentionWorkspace&&) noexcept;
  struct Buffers;
  Buffers& buffers() { return *buffers_; }
  std::size_t bytes() const;

 private:
  std::unique_ptr<Buffers> buffers_;
};

/// out [batch, heads, query_len, value_dim]; log_sum_exp [batch, heads, query_len] in natural units.
/// A query that sees no key gets out = 0 and log_sum_exp = -infinity; so does one whose logits are all below about -1e8,
/// the large negative numbers that some masks use. What a document or row of padding holds, even NaN, reaches no other.
/// Same bits for any number of threads and whatever else is in the batch. Throws Error when shapes disagree, naming
/// both, and what a modifier threw. A device takes what team::takes() says; the host's cores do the rest for it, on memory
/// that both reach.
/// Under Precision::bf16 a CPU with AVX512_BF16, in a build for it, multiplies pairs of bf16 and sums in float: each weight,
/// at most 1, is rounded once before it meets its value, which moves `out` by no more than 2^-8 of the row's weighted mean of
/// |value|. Logits, softmax and the sum of the weights that divides them stay float, so log_sum_exp is as float's.
/// Elsewhere, for few queries (token by token) and by strips, float products take the same operands and nothing more is rounded.
template <class T>
void attention_forward(Exec const& exec, AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp,
                       AttentionWorkspace& workspace);

/// Overwrites grad_query, grad_key, grad_value (shapes of query, key, value) and calls every modifier's backward. `out`
/// and `log_sum_exp` are what attention_forward left. A query without keys gives no gradient.
/// Under Precision::bf16, where the forward would multiply pairs: grad_out, the weights P and dS are each rounded once before
/// their products, and dS is formed of the rounded grad_out, so that a modifier receives it unrounded.
template <class T>
void attention_backward(Exec const& exec, AttentionInput<T> const& in, Heads<T const> const& out,
                        View3<T> const& log_sum_exp, Heads<T const> const& grad_out, Heads<T> const& grad_query,
                        Heads<T> const& grad_key, Heads<T> const& grad_value, AttentionWorkspace& workspace,
                        BranchGradients<T> const& grad_branches = {});

}  // namespace sextant::kernels

namespace sextant::reference {

/// The plain loops that define the fast kernel; they form every logit of a row (one row at a time).
template <class T>
void attention_forward(kernels::AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp);
template <class T>
void attention_backward(kernels::AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
                        Heads<T const> const& grad_out, Heads<T> const& grad_query, Heads<T> const& grad_key,
                        Heads<T> const& grad_value, kernels::BranchGradients<T> const& grad_branches = {});

}  // namespace sextant::reference
