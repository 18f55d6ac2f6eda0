// One trial at work: the layer and its backward, and a small model for what needs tokens, documents and a cache.
#pragma once
#include <sextant/check/conformance_subject.hpp>
#include <sextant/check/layer.hpp>
#include <sextant/model/model.hpp>

#include <limits>

namespace sextant::check {

std::vector<double> normal(std::string const& name, std::size_t count);
Tensor normal_tensor(std::string const& name, std::vector<std::size_t> shape);

/// One attention layer. Inputs and parameters are free to change between calls.
template <class T>
class Probe {
 public:
  Probe(Trial trial, encoding::Registry const& registry);

  Trial trial;
  Tensor q, k, v, x;               ///< [batch, heads or kv_heads, length, channels]; x [batch, length, model_dim]
  std::vector<std::string> names;  ///< of the parameters
  std::vector<std::vector<double>> parameters;
  Allowed allowed;

  std::vector<double> attend();  ///< [batch, heads, length, value_dim]
  std::vector<double> attend_by_reference();
  std::vector<double> embed();  ///< x after the stage `embed`
  /// [batch, heads, length, length], all pairs; a tiny scale leaves the bias alone.
  std::vector<double> logits(double scale = 0);
  struct Turned {
    std::vector<double> q, k;
  };
  Turned turned();
  struct Slopes {
    std::vector<double> q, k, v, x;
    std::vector<std::vector<double>> parameters;
  };
  /// Of sum weight_out * attend() + sum weight_x * embed().
  Slopes slopes(Tensor const& weight_out, Tensor const& weight_x);
  double loss(Tensor const& weight_out, Tensor const& weight_x);
  /// The first, or all, tokens of the trial at other positions: same query, key, value, x of each token.
  Probe slice(int first, int count, std::vector<double> positions) const;

 private:
  std::unique_ptr<Layer<T>> layer();
  encoding::Registry const* registry_;
  std::shared_ptr<encoding::Position const> position_;
};

/// A decoder of two layers around the block, in double; reads token ids. The last id's embedding may be poisoned.
class Reader {
 public:
  Reader(Trial const& trial, encoding::Registry const& registry);

  static constexpr int vocabulary = 11;
  Trial trial;
  std::vector<int> tokens;  ///< [batch, length]
  void poison_last_id(double with = std::numeric_limits<double>::quiet_NaN());

  std::vector<double> whole();  ///< logits [batch * length, vocabulary]
  /// The same, those of each chunk from a pass over all tokens up to its end: what in_chunks() gives under frequencies that
  /// follow the length.
  std::vector<double> whole_by_chunks(std::vector<int> const& sizes);
  /// The same, `sizes` tokens at a time, the last size again and again.
  std::vector<double> in_chunks(std::vector<int> const& sizes, int capacity = 0);
  std::size_t cache_bytes() const { return cache_bytes_; }  ///< of the latest in_chunks()
  struct Gradient {
    std::vector<double> all, embedding;  ///< embedding [vocabulary, model_dim]
  };
  /// Of the loss over tokens from `from` on; the target of each follows from its place behind `from`.
  Gradient gradient_of_tail(int from);
  model::Model<double> const& model() const { return *model_; }

 private:
  model::Batch batch(int first, int count) const;
  /// f(first, count) for chunks of these sizes, the last one again and again; rows [batch * count] of what it returns go to
  /// their places.
  template <class F>
  std::vector<double> collect(std::vector<int> const& sizes, F&& f) const;
  std::unique_ptr<model::Model<double>> model_;
  std::size_t cache_bytes_ = 0;
};

}  // namespace sextant::check
