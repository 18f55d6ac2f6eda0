// One attention layer around a position block: what a model does with an encoding, on tensors given from outside.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/kernels/attention.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sextant::check {

/// Row-major numbers with their shape.
struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  int extent(std::size_t axis) const { return static_cast<int>(shape.at(axis)); }
};

/// Which pairs attention may use: the kernel's own causal rule, all, or any [L, L] pattern through a modifier.
struct Allowed {
  bool causal = true;
  int window = 0;           ///< 0: no limit; n: the last n keys up to the query's own
  std::vector<char> pairs;  ///< [L, L], 1 = allowed; empty: the rule alone
};

template <class T>
class Layer {
 public:
  /// `positions` [batch or 1, length]; `coordinates` [length, axes] for encodings of several axes, or empty.
  Layer(std::shared_ptr<encoding::Position const> position, int batch, int length, std::vector<double> const& positions,
        std::vector<double> const& coordinates = {});

  std::vector<typename encoding::Binding<T>::Slot> const& slots() const { return binding_.slots(); }
  encoding::Binding<T> const& binding() const { return binding_; }
  /// Parameter n of slots(). Throws Error when the count is wrong.
  void set(std::size_t slot, std::vector<double> const& values);
  std::vector<double> gradient(std::size_t slot) const;

  /// x [batch, length, model_dim] after the embedding stage; and d loss / d x from the gradient with respect to that.
  std::vector<double> embed(Tensor const& x);
  std::vector<double> embed_backward(Tensor const& grad);

  /// Gates and turns q [batch, heads, length, head_dim], k [batch, kv_heads, ...]; x may be empty where no gate reads
  /// tokens.
  void encode(Tensor const& q, Tensor const& k, Tensor const& x);
  /// What attention multiplies (branch 0).
  std::vector<double> query() const { return packed(encoded_.query.front()); }
  std::vector<double> key() const { return packed(encoded_.key.front()); }
  /// Value of gate g of all the block's gates, after its scan: [batch, heads or 1, length].
  std::vector<double> gate(std::size_t g) const;
  /// Values of feature n of all the block's features: [batch, heads, length, width].
  std::vector<double> feature(std::size_t n) const;

  struct Logits {
    std::vector<double> scaled, biased;  ///< [batch, heads, length, length] before and after what is added to them
  };
  /// Of every pair, the hidden ones too, as the fused attention holds them. Encodings that work on whole rows or hide
  /// pairs see what is `allowed`; there hidden pairs are -infinity in both.
  Logits logits(double scale, Allowed const& allowed);
  /// [batch, heads, length, value_dim]
  std::vector<double> attend(Tensor const& v, double scale, Allowed const& allowed);
  /// What attend() was asked for, once more, by the plain loops.
  std::vector<double> attend_by_reference() const;

  struct Gradients {
    std::vector<double> q, k, v, x;
  };
  /// Given d loss / d attend(). Leaves the gradients of the parameters in gradient().
  Gradients backward(Tensor const& grad_out);

 private:
  static View4<T> upload(Tensor const& t);
  static Heads<T> heads(View4<T> const& v);
  static std::vector<double> numbers(View4<T> const& v);
  static std::vector<double> packed(Heads<T> const& v);
  kernels::AttentionInput<T> input(View4<T> const& v, double scale, bool gradient);

  encoding::Binding<T> binding_;
  int batch_, length_;
  std::vector<View1<T>> weights_, gradients_;
  View2<T> x_;
  View4<T> q_, k_, v_, out_;
  View3<T> log_sum_exp_;
  encoding::TokenState<T> state_;
  encoding::Encoded<T> encoded_;
  kernels::AttentionInput<T> used_;
  std::unique_ptr<kernels::TileModifier<T>> hide_;
  kernels::AttentionWorkspace workspace_;
};

}  // namespace sextant::check
