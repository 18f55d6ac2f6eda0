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

/// A matrix that products read, and under Precision::bf16 the same rounded.
template <class T>
struct Projection {
  View2<T> exact;
  View2<BFloat16> rounded;  ///< empty under Precision::fp32
};

template <class T>
struct LayerWeights {
  NormWeights<T> attention_norm, mlp_norm, query_norm, key_norm;
  Projection<T> qkv;       ///< [(heads + 2 kv_heads) * head_dim, width]
  View1<T> qkv_bias;       ///< with qkv_bias: [(heads + 2 kv_heads) * head_dim]; else empty
  Projection<T> shift;     ///< with kv_shift: [2 kv_heads, width], gates of the key heads, then of the value heads
  Projection<T> output;    ///< [width, heads * head_dim]
  Projection<T> mlp_in;    ///< [2 mlp_width, width] where gated (gate, then up), [mlp_width, width] for gelu
  Projection<T> mlp_down;  ///< [width, mlp_width]
};

template <class T>
struct Weights {
  View2<T> embedding;    ///< [vocabulary, width]
  Projection<T> output;  ///< [vocabulary, width]; the embedding itself when tied
  NormWeights<T> norm;
  std::vector<LayerWeights<T>> layers;
};

/// `rounded` holds the first layout.decayed() entries of the arena, all matrices among them, in bf16, or nothing.
template <class T>
Weights<T> see_weights(ModelConfig const& config, Layout const& layout, View1<T> const& arena,
                       View1<BFloat16> const& rounded = {});

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
