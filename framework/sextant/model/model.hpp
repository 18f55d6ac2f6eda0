// A decoder: parameters and gradients in one arena each, explicit forward and backward, and a cached pass for decoding.
#pragma once
#include <sextant/model/batch.hpp>
#include <sextant/model/buffers.hpp>
#include <sextant/model/cache.hpp>
#include <sextant/model/layer.hpp>
#include <sextant/model/weights.hpp>

#include <functional>
#include <memory>

namespace sextant::model {

/// How a training pass uses memory. Neither changes what is computed, up to the order in which rows' gradients add.
struct PassOptions {
  bool recompute = false;  ///< keep each layer's input only and run its forward again before its backward: same bits
  int tokens_at_once = 0;  ///< rows of a batch go through in groups of at most this many tokens (one row at least);
                           ///< their gradients add up in order; 0: all at once
};

/// What the parameters of a new model hold.
enum class Start {
  drawn,  ///< every one from its own stream
  zero    ///< zero, to be filled with weights from elsewhere, but what the position block trains, which is drawn
};

/// T is float, or double for gradient checks.
template <class T>
class Model {
 public:
  /// Parameters drawn from `seed`: each from its own stream, so equal names give equal values in any model.
  /// Throws Error when config and position do not fit.
  Model(ModelConfig const& config, std::shared_ptr<encoding::Position const> position, std::uint64_t seed,
        Start start = Start::drawn);
  /// The same parameters (shared, not copied) seen under another position block, such as another scaling. Throws Error
  /// when that block has other trained tensors.
  Model with_position(std::shared_ptr<encoding::Position const> position) const;

  ModelConfig const& config() const { return config_; }
  encoding::Position const& position() const { return binding_.position(); }
  encoding::Binding<T> const& binding() const { return binding_; }
  Layout const& layout() const { return layout_; }
  /// What is written through them counts from the next call of a pass on, where this accessor or parameter() was called
  /// since the last one: under Precision::bf16 products read a rounded copy. A pass with gradients always reads afresh.
  View1<T> const& parameters() const {
    rounded_->stale = true;
    return parameters_;
  }
  /// Laid out as the parameters. Memory is taken by the first loss_and_gradient; throws Error before it.
  View1<T> const& gradients() const;
  /// A parameter or its gradient by name, row-major.
  View1<T> parameter(std::string const& name) const { return see(parameters(), name); }
  View1<T> gradient(std::string const& name) const { return see(gradients(), name); }

  /// Mean loss in nat per predicted token; the gradients are overwritten with those of that mean. 0 and zero gradients
  /// when nothing is predicted.
  double loss_and_gradient(Exec const& exec, Batch const& batch, PassOptions const& options = {});

  /// nll [batch, seq_len] in nat; 0 where nothing is predicted. Keeps nothing for a backward.
  void loss_per_token(Exec const& exec, Batch const& batch, View2<double> const& nll);

  /// logits [batch * seq_len, vocabulary] of every token, or [batch * n, vocabulary] of the last n tokens of each row.
  void logits(Exec const& exec, Batch const& batch, View2<T> const& logits);

  /// The logits of all tokens, row by row of the batch and some tokens at a time, in memory that the next ones reuse:
  /// visit(first, logits [count, vocabulary]) for tokens [first, first + count) of [0, batch * seq_len).
  using Visit = std::function<void(std::int64_t first, View2<T> const& logits)>;
  void each_logits(Exec const& exec, Batch const& batch, Visit const& visit);

  /// What a layer made of its input, in memory that the next layer reuses.
  struct LayerView {
    int layer = 0;
    kernels::AttentionInput<T> attention;  ///< what attention took: query and key as they are multiplied, biases, mask
    View2<T> output;                       ///< the residual stream after the layer [batch * seq_len, width]
    View2<T> normed;                       ///< after the last layer: the final norm's output; else empty
  };
  using Look = std::function<void(LayerView const&)>;
  /// One pass over the whole batch that shows every layer as it is done.
  void each_layer(Exec const& exec, Batch const& batch, Look const& look);

  /// The next tokens of rows whose earlier ones are in the cache: batch.positions empty continues the count of tokens.
  /// Appends them to the cache; logits of the new tokens or of the last n of each row, as above. A pass over at most
  /// kernels::few_rows tokens adds up its products in another order than a longer one. Under scalings that follow the
  /// length of the text, tokens that turn otherwise in the longer text are read again, all rows from their beginning: the
  /// logits are those of a pass over all tokens at once, at its cost. Throws Error past the capacity.
  void logits(Exec const& exec, Batch const& batch, KvCache<T>& cache, View2<T> const& logits);

 private:
  Model(Model const& other, std::shared_ptr<encoding::Position const> position);
  void attach();
  View1<T> see(View1<T> const& arena, std::string const& name) const;
  void attach_gradients();
  /// Brings the rounded copy up to date, where there is one.
  void round_weights(Exec const& exec);
  /// How many tokens of each row the logits are for.
  int check_logits(Batch const& batch, View2<T> const& logits) const;
  /// f(buffers, first row of the batch) after a forward that keeps nothing, for as many rows at once as is sensible.
  template <class F>
  void each_forward(Exec const& exec, Batch const& batch, F const& f);
  Buffers<T>& buffers(int batch, int seq_len, Keep keep);
  void embed(Exec const& exec, Batch const& batch, View2<T> const& x);
  Pass<T> begin(Exec const& exec, Batch const& batch, Buffers<T>& buffers);
  void forward(Pass<T> const& pass, Batch const& batch, Look const& look = {});
  void backward(Pass<T> const& pass);
  /// Reads `count` more of the tokens that the cache names; `lengths` of the sequences of all tokens, or empty.
  Buffers<T>& extend(Exec const& exec, KvCache<T>& cache, int count, View2<double> const& lengths);

  ModelConfig config_;
  encoding::Binding<T> binding_;
  Layout layout_;
  View1<T> parameters_, gradients_;
  struct Rounded {
    View1<BFloat16> weights;  ///< the parameters that decay, all matrices among them; empty under Precision::fp32
    bool stale = true;
  };
  std::shared_ptr<Rounded> rounded_ = std::make_shared<Rounded>();  ///< shared as the parameters are
  Weights<T> weights_, grads_;
  std::vector<std::unique_ptr<Buffers<T>>> buffers_;  ///< the two plans used last, the latest first
  kernels::Scratch<double> scratch_;
};

}  // namespace sextant::model
