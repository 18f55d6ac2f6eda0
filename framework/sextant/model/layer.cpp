#include <sextant/kernels/activation.hpp>
#include <sextant/kernels/affine.hpp>
#include <sextant/kernels/token_shift.hpp>
#include <sextant/model/layer.hpp>
#include <sextant/model/linear.hpp>

namespace sextant::model {

using kernels::as_groups;
using kernels::Into;

namespace {
template <class T>
void activate(Exec const& exec, MlpKind kind, View2<T> const& in, View2<T> const& out) {
  switch (kind) {
    case MlpKind::swiglu:
      return kernels::swiglu_forward<T>(exec, in, out);
    case MlpKind::gelu:
      return kernels::gelu_forward<T>(exec, in, out);
    case MlpKind::geglu:
      return kernels::geglu_forward<T>(exec, in, out);
  }
}
template <class T>
void activate_backward(Exec const& exec, MlpKind kind, View2<T> const& in, View2<T> const& grad_out,
                       View2<T> const& grad_in) {
  switch (kind) {
    case MlpKind::swiglu:
      return kernels::swiglu_backward<T>(exec, in, grad_out, grad_in);
    case MlpKind::gelu:
      return kernels::gelu_backward<T>(exec, in, grad_out, grad_in);
    case MlpKind::geglu:
      return kernels::geglu_backward<T>(exec, in, grad_out, grad_in);
  }
}

template <class T>
struct QkNorm {
  kernels::Groups<T> query_in, key_in, query_out, key_out;
};
// Query and key heads inside qkv (before the norm) and inside qk (after it).
template <class T>
QkNorm<T> see_heads(ModelConfig const& config, View2<T> const& qkv, View2<T> const& qk) {
  int const rows = qkv.extent_int(0), queries = config.query_width(), dim = config.head_dim;
  return {as_groups(qkv.data(), rows, config.heads, dim, qkv.extent(1)),
          as_groups(qkv.data() + queries, rows, config.kv_heads, dim, qkv.extent(1)),
          as_groups(qk.data(), rows, config.heads, dim, qk.extent(1)),
          as_groups(qk.data() + queries, rows, config.kv_heads, dim, qk.extent(1))};
}

template <class T>
kernels::AttentionInput<T> attention_input(Pass<T> const& pass, int layer, encoding::Encoded<T> const& encoded,
                                           Heads<T> const& value, encoding::TokenState<T>& state, bool gradient) {
  kernels::AttentionInput<T> in;
  pass.binding.connect(pass.exec, layer, encoded.query, {encoded.key.begin(), encoded.key.end()}, state, gradient, in);
  in.value = value;
  in.mask.causal = pass.config.causal;
  in.mask.query_document = in.mask.key_document = pass.document;
  in.precision = pass.config.precision;
  return in;
}

/// What encode() returned in the forward.
template <class T>
encoding::Encoded<T> encoded_of(encoding::Binding<T> const& binding, int layer, QueryKeyValue<T> const& views,
                                encoding::TokenState<T> const& state) {
  if (!binding.apart(layer)) return {{views.query}, {views.key}};
  return {{state.query.begin(), state.query.end()}, {state.key.begin(), state.key.end()}};
}
template <class T>
kernels::BranchGradients<T> further(encoding::Encoded<T> const& gradients) {
  return {{gradients.query.begin() + 1, gradients.query.end()}, {gradients.key.begin() + 1, gradients.key.end()}};
}

template <class T>
void attention_backward_of(Pass<T> const& pass, int index, LayerWeights<T> const& weights, LayerWeights<T> const& grads,
                           LayerBuffers<T>& layer) {
  auto const& [exec, config, binding, buffers, position, document] = pass;
  int const batch = buffers.batch, seq_len = buffers.seq_len;
  auto const views = see_qkv(config, layer.qkv, layer.qk, batch, seq_len);
  // With qk_norm the gradients of the normalised query and key lie in grad_qkv too, and become those before the norm.
  auto const grad_views = see_qkv(config, buffers.grad_qkv, View2<T>(), batch, seq_len);
  auto const in =
      attention_input(pass, index, encoded_of(binding, index, views, layer.tokens), views.value, layer.tokens, true);
  auto const grads_of_encoded = binding.gradients(index, grad_views.query, grad_views.key);
  auto const heads = [&](View2<T> const& x) {
    return as_heads(x.data(), batch, pass.config.heads, seq_len, pass.config.head_dim);
  };
  kernels::attention_backward<T>(exec, in, heads(layer.attended), layer.log_sum_exp, heads(buffers.grad_attended),
                                 grads_of_encoded.query.front(), grads_of_encoded.key.front(), grad_views.value,
                                 buffers.attention, further(grads_of_encoded));
  if (binding.reads_tokens()) Kokkos::deep_copy(exec, buffers.branch, T(0));  // what gates send back to x
  binding.encode_backward(exec, index, layer.x_normed, views.query, views.key, grads_of_encoded, grad_views.query,
                          grad_views.key, buffers.branch, layer.tokens);
  if (!config.qk_norm) return;
  auto const h = see_heads(config, layer.qkv, layer.qk), g = see_heads(config, buffers.grad_qkv, buffers.grad_qkv);
  kernels::norm_backward<T>(exec, head_norm_of(config, weights.query_norm), h.query_in, layer.query_stats, g.query_in,
                            g.query_in, false, grads.query_norm.gain, {}, buffers.scratch);
  kernels::norm_backward<T>(exec, head_norm_of(config, weights.key_norm), h.key_in, layer.key_stats, g.key_in, g.key_in,
                            false, grads.key_norm.gain, {}, buffers.scratch);
}
}  // namespace

template <class T>
QueryKeyValue<T> see_qkv(ModelConfig const& config, View2<T> const& qkv, View2<T> const& qk, int batch, int seq_len) {
  View2<T> const& turned = qk.size() ? qk : qkv;
  int const dim = config.head_dim, queries = config.query_width(), keys = config.kv_width();
  return {as_heads(turned.data(), batch, config.heads, seq_len, dim, turned.extent(1)),
          as_heads(turned.data() + queries, batch, config.kv_heads, seq_len, dim, turned.extent(1)),
          as_heads(qkv.data() + queries + keys, batch, config.kv_heads, seq_len, dim, qkv.extent(1))};
}

template <class T>
void project(Exec const& exec, ModelConfig const& config, LayerWeights<T> const& weights, LayerBuffers<T>& layer,
             int batch, View2<int> const& document, TokenBefore<T> const& before) {
  linear(exec, layer.few, layer.x_normed, weights.qkv, layer.qkv);
  if (config.qkv_bias) kernels::add_to_rows<T>(exec, weights.qkv_bias, layer.qkv);
  if (config.kv_shift) {
    linear(exec, layer.few, layer.x_normed, weights.shift, layer.shift);
    kernels::token_shift_forward<T>(exec, layer.qkv.data() + config.query_width(), layer.qkv.extent_int(1), batch,
                                    layer.qkv.extent_int(0) / batch, config.head_dim,
                                    {layer.shift, layer.plain_kv, before.kv, document, before.document});
  }
  if (!config.qk_norm) return;
  auto const h = see_heads(config, layer.qkv, layer.qk);
  kernels::norm_forward<T>(exec, head_norm_of(config, weights.query_norm), h.query_in, h.query_out, layer.query_stats);
  kernels::norm_forward<T>(exec, head_norm_of(config, weights.key_norm), h.key_in, h.key_out, layer.key_stats);
}

template <class T>
void after_attention(Exec const& exec, ModelConfig const& config, LayerWeights<T> const& weights,
                     LayerBuffers<T>& layer, View2<T> const& branch) {
  linear(exec, layer.few, layer.attended, weights.output, branch);
  kernels::add_norm_forward<T>(exec, norm_of(config, weights.mlp_norm), layer.x, branch, layer.middle,
                               layer.middle_normed, layer.middle_stats);
  linear(exec, layer.few, layer.middle_normed, weights.mlp_in, layer.mlp_in);
  activate(exec, config.mlp, layer.mlp_in, layer.mlp_active);
  linear(exec, layer.few, layer.mlp_active, weights.mlp_down, branch);
}

template <class T>
kernels::AttentionInput<T> layer_forward(Pass<T> const& pass, int index, LayerWeights<T> const& weights,
                                         LayerBuffers<T>& layer) {
  auto const& [exec, config, binding, buffers, position, document] = pass;
  project(exec, config, weights, layer, buffers.batch, document);
  auto const views = see_qkv(config, layer.qkv, layer.qk, buffers.batch, buffers.seq_len);
  auto const encoded = binding.encode(exec, index, layer.x_normed, views.query, views.key, layer.tokens);
  round_operands(exec, config.precision, encoded, views.value);
  auto const in = attention_input(pass, index, encoded, views.value, layer.tokens, false);
  auto const out = as_heads(layer.attended.data(), buffers.batch, config.heads, buffers.seq_len, config.head_dim);
  kernels::attention_forward<T>(exec, in, out, layer.log_sum_exp, buffers.attention);
  after_attention(exec, config, weights, layer, buffers.branch);
  return in;
}

template <class T>
void layer_backward(Pass<T> const& pass, int index, LayerWeights<T> const& weights, LayerWeights<T> const& grads,
                    LayerBuffers<T>& layer) {
  auto const& [exec, config, binding, buffers, position, document] = pass;
  auto const& grad = buffers.grad;
  linear_backward(exec, layer.mlp_active, weights.mlp_down, grad, buffers.grad_active, grads.mlp_down);
  View2<T> const grad_mlp_in = layer.mlp_in;  // in the memory of what it is the gradient of
  activate_backward(exec, config.mlp, layer.mlp_in, buffers.grad_active, grad_mlp_in);
  linear_backward(exec, layer.middle_normed, weights.mlp_in, grad_mlp_in, buffers.grad_normed, grads.mlp_in);
  kernels::norm_backward<T>(exec, norm_of(config, weights.mlp_norm), as_groups(layer.middle), layer.middle_stats,
                            as_groups(buffers.grad_normed), as_groups(grad), true, grads.mlp_norm.gain,
                            grads.mlp_norm.bias, buffers.scratch);

  linear_backward(exec, layer.attended, weights.output, grad, buffers.grad_attended, grads.output);
  attention_backward_of(pass, index, weights, grads, layer);
  if (config.kv_shift)
    kernels::token_shift_backward<T>(exec, buffers.grad_qkv.data() + config.query_width(),
                                     buffers.grad_qkv.extent_int(1), buffers.batch, buffers.seq_len, config.head_dim,
                                     {layer.shift, layer.plain_kv, {}, document, {}});
  if (config.qkv_bias) kernels::add_rows<T>(exec, buffers.grad_qkv, grads.qkv_bias);
  linear_backward(exec, layer.x_normed, weights.qkv, buffers.grad_qkv, buffers.grad_normed, grads.qkv);
  if (config.kv_shift) {
    linear_backward_weight(exec, layer.x_normed, weights.shift, layer.shift, grads.shift.exact);
    linear_backward_input(exec, layer.shift, weights.shift, buffers.grad_normed, Into::add);
  }
  if (binding.reads_tokens())
    kernels::add<T>(exec, View1<T const>(buffers.branch.data(), buffers.branch.size()),
                    View1<T>(buffers.grad_normed.data(), buffers.grad_normed.size()));
  kernels::norm_backward<T>(exec, norm_of(config, weights.attention_norm), as_groups(layer.x), layer.x_stats,
                            as_groups(buffers.grad_normed), as_groups(grad), true, grads.attention_norm.gain,
                            grads.attention_norm.bias, buffers.scratch);
}

#define SEXTANT_INSTANTIATE(T)                                                                                      \
  template QueryKeyValue<T> see_qkv(ModelConfig const&, View2<T> const&, View2<T> const&, int, int);                \
  template void project(Exec const&, ModelConfig const&, LayerWeights<T> const&, LayerBuffers<T>&, int,             \
                        View2<int> const&, TokenBefore<T> const&);                                                  \
  template void after_attention(Exec const&, ModelConfig const&, LayerWeights<T> const&, LayerBuffers<T>&,          \
                                View2<T> const&);                                                                   \
  template kernels::AttentionInput<T> layer_forward(Pass<T> const&, int, LayerWeights<T> const&, LayerBuffers<T>&); \
  template void layer_backward(Pass<T> const&, int, LayerWeights<T> const&, LayerWeights<T> const&, LayerBuffers<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::model
