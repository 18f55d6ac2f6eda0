// What decides a model's parameters and arithmetic, apart from the encoding.
#pragma once
#include <sextant/kernels/matmul.hpp>
#include <sextant/kernels/norm.hpp>

#include <cstdint>

namespace sextant::model {

using kernels::NormKind;
using kernels::Precision;

/// swiglu: down(silu(gate x) * up x).  gelu: down(gelu(up x)), as GPT-2.  geglu: down(gelu(gate x) * up x), as Gemma.
enum class MlpKind { swiglu, gelu, geglu };

/// A decoder of pre-norm blocks, without biases in its projections but those of qkv_bias.
struct ModelConfig {
  int vocabulary = 256;
  int layers = 4;
  int width = 128;
  int heads = 4;
  int kv_heads = 4;  ///< divides heads
  int head_dim = 32;
  MlpKind mlp = MlpKind::swiglu;
  int mlp_width = 384;
  NormKind norm = NormKind::rmsnorm;
  double norm_eps = 1e-5;
  bool qk_norm = false;   ///< RMSNorm of every query and key head, one gain per layer for each, before any rotation
  bool qkv_bias = false;  ///< the projections to query, key and value add a bias, as Qwen2's
  bool kv_shift = false;  ///< keys and values are mixed with those of the token before, before any norm or rotation
  bool tie_embedding = true;
  double embedding_scale = 1;  ///< multiplies a token's row as it enters, not as the output, as Gemma's sqrt(width)
  bool causal = true;
  double init_std = 0.02;
  /// bf16: the operands of every projection and of the output layer, and attention's query, key and value, are rounded to
  /// bf16; sums, norms, softmax, loss, gradients and the parameters that an optimiser moves stay float.
  Precision precision = Precision::fp32;
  bool residual_by_depth = true;  ///< what writes to the residual stream starts at init_std / sqrt(2 layers)

  int query_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
  int qkv_width() const { return query_width() + 2 * kv_width(); }
  bool gated() const { return mlp != MlpKind::gelu; }
  int mlp_in_width() const { return gated() ? 2 * mlp_width : mlp_width; }

  /// Throws Error naming the first member out of range.
  void check() const;
};

}  // namespace sextant::model
