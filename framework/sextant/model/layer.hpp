// One pre-norm block, forward and backward, as a list of kernels.
#pragma once
#include <sextant/model/buffers.hpp>
#include <sextant/model/weights.hpp>

namespace sextant::model {

/// What the blocks of one pass share.
template <class T>
struct Pass {
  Exec const& exec;
  ModelConfig const& config;
  encoding::Binding<T>& binding;
  Buffers<T>& buffers;
  View2<double> position;  ///< [batch or 1, seq_len]
  View2<int> document;     ///< [batch, seq_len] or empty
};

/// From layer.x and layer.x_normed to layer.mlp_active; leaves the feed-forward branch in buffers.branch. Returns what
/// attention took, valid until the next layer.
template <class T>
kernels::AttentionInput<T> layer_forward(Pass<T> const& pass, int index, LayerWeights<T> const& weights,
                                         LayerBuffers<T>& layer);

/// buffers.grad is the gradient after the block on the way in and before it on the way out; `grads` gain theirs.
/// Uses up the layer's activations.
template <class T>
void layer_backward(Pass<T> const& pass, int index, LayerWeights<T> const& weights, LayerWeights<T> const& grads,
                    LayerBuffers<T>& layer);

/// Attention's input as its views; shared with the cached pass.
template <class T>
struct QueryKeyValue {
  Heads<T> query, key, value;
};
template <class T>
QueryKeyValue<T> see_qkv(ModelConfig const& config, View2<T> const& qkv, View2<T> const& qk, int batch, int seq_len);

/// The token before those of a pass, for the key-value shift of a cached pass; empty: there is none.
template <class T>
struct TokenBefore {
  View2<T> kv;          ///< [batch, 2 kv_heads * head_dim], before the shift
  View1<int> document;  ///< [batch]
};

/// Query, key and value of x_normed, before they are turned: the projection and, with kv_shift, the mix with the token
/// before, then, with qk_norm, the norm of heads. `document` [batch, seq_len] or empty.
template <class T>
void project(Exec const& exec, ModelConfig const& config, LayerWeights<T> const& weights, LayerBuffers<T>& layer,
             int batch, View2<int> const& document, TokenBefore<T> const& before = {});

/// From layer.attended to buffers.branch.
template <class T>
void after_attention(Exec const& exec, ModelConfig const& config, LayerWeights<T> const& weights,
                     LayerBuffers<T>& layer, View2<T> const& branch);

}  // namespace sextant::model
