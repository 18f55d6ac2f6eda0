// The memory of one pass, planned ahead and kept: what a forward leaves for its backward, and what is used in between.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/kernels/attention.hpp>
#include <sextant/kernels/embedding.hpp>
#include <sextant/kernels/reduce.hpp>
#include <sextant/model/config.hpp>

#include <vector>

namespace sextant::model {

/// What a forward keeps for every layer: all that the backward reads; the layer's input, from which the rest is
/// computed again; or nothing, when no backward will run.
enum class Keep { all, inputs, nothing };

/// Activations of one layer; rows = batch * seq_len. Under Keep::inputs and Keep::nothing layers share memory.
template <class T>
struct LayerBuffers {
  View2<T> x, x_normed, x_stats;        ///< input [rows, width], its norm, [rows, 2]
  View2<T> qkv;                         ///< [rows, (heads + 2 kv_heads) * head_dim]; turned in place
  View2<T> qk, query_stats, key_stats;  ///< with qk_norm: query and key after it [rows, ...]; else empty
  View2<T> shift, plain_kv;             ///< with kv_shift: gates' logits [rows, 2 kv_heads]; keys and values before it
  View2<T> attended;                    ///< [rows, heads * head_dim]
  View3<T> log_sum_exp;                 ///< [batch, heads, seq_len]
  View2<T> middle, middle_normed, middle_stats;  ///< x + attention's branch [rows, width], its norm, [rows, 2]
  View2<T> mlp_in, mlp_active;                   ///< before and after the nonlinearity
  encoding::TokenState<T> tokens;
  bool few = false;  ///< a cached pass over few tokens: projections by matmul_few
};

template <class T>
struct Buffers {
  int batch = 0, seq_len = 0;
  Keep keep = Keep::nothing;
  std::vector<LayerBuffers<T>> layers;
  View2<T> x, x_normed, x_stats;  ///< after the last layer [rows, width], its norm, [rows, 2]
  View2<T> branch;                ///< [rows, width], what is about to join the residual stream
  View2<T> logits;                ///< [some rows, vocabulary], as many as are formed at once
  View1<double> nll;              ///< [rows]
  View1<int> target;              ///< [rows], negative where nothing is predicted
  kernels::AttentionWorkspace attention;

  // Backward only (keep is not nothing).
  View2<T> grad, grad_normed, grad_attended, grad_qkv, grad_active;
  kernels::TokenIndex tokens;
  kernels::Scratch<T> scratch;

  Buffers(ModelConfig const& config, int batch, int seq_len, Keep keep);
  int rows() const { return batch * seq_len; }
};

}  // namespace sextant::model
