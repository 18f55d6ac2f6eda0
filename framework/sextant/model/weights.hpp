// Views of an arena (parameters or their gradients) as the layers read them.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/kernels/norm.hpp>
#include <sextant/model/arena.hpp>
#include <sextant/model/config.hpp>

namespace sextant::model {

/// The parameters of a model, in the order in which they lie. Projections are [out, in]; query, key and value lie
/// together as one matrix, and so do gate and up. `slots` are the encoding's, which do not decay.
template <class T>
Layout make_layout(ModelConfig const& config, std::vector<typename encoding::Binding<T>::Slot> const& slots);

template <class T>
struct NormWeights {
  View1<T> gain, bias;  ///< bias is empty for rmsnorm
};

template <class T>
struct LayerWeights {
  NormWeights<T> attention_norm, mlp_norm, query_norm, key_norm;
  View2<T> qkv;       ///< [(heads + 2 kv_heads) * head_dim, width]
  View1<T> qkv_bias;  ///< with qkv_bias: [(heads + 2 kv_heads) * head_dim]; else empty
  View2<T> shift;     ///< with kv_shift: [2 kv_heads, width], gates of the key heads, then of the value heads
  View2<T> output;    ///< [width, heads * head_dim]
  View2<T> mlp_in;    ///< [2 mlp_width, width] where gated (gate, then up), [mlp_width, width] for gelu
  View2<T> mlp_down;  ///< [width, mlp_width]
};

template <class T>
struct Weights {
  View2<T> embedding;  ///< [vocabulary, width]
  View2<T> output;     ///< [vocabulary, width]; the embedding itself when tied
  NormWeights<T> norm;
  std::vector<LayerWeights<T>> layers;
};

template <class T>
Weights<T> see_weights(ModelConfig const& config, Layout const& layout, View1<T> const& arena);

template <class T>
kernels::Norm<T> norm_of(ModelConfig const& config, NormWeights<T> const& weights) {
  return {config.norm, config.norm_eps, weights.gain, weights.bias};
}
/// Query and key heads are normalised by RMSNorm whatever the layers' norm is.
template <class T>
kernels::Norm<T> head_norm_of(ModelConfig const& config, NormWeights<T> const& weights) {
  return {NormKind::rmsnorm, config.norm_eps, weights.gain, {}};
}

}  // namespace sextant::model
