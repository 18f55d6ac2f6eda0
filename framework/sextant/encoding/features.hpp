// Features: several numbers per token and head, projected from the token; and all of it backwards.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/encoding/token_state.hpp>

namespace sextant::encoding {

/// One feature of one term of one layer with its trained slices; grad_* are empty when no backward will run.
template <class T>
struct FeatureWork {
  FeatureSpec spec;
  int heads = 1;
  View1<T> weight, down, up, conv;  ///< [heads, width, model_dim], or [rank, model_dim] and [heads, width, rank]
  View1<T> grad_weight, grad_down, grad_up, grad_conv;
};

/// Fills raw (with taps) and value of tokens [first, first + count) from x [batch * count, model_dim].
template <class T>
void feature_forward(Exec const& exec, FeatureWork<T> const& work, View2<T const> const& x, Tokens const& tokens,
                     FeatureState<T> const& state);

/// Consumes state.grad: adds to the slices' gradients and to grad_x. Tokens start at 0.
template <class T>
void feature_backward(Exec const& exec, FeatureWork<T> const& work, View2<T const> const& x, Tokens const& tokens,
                      FeatureState<T> const& state, View2<T> const& grad_x);

}  // namespace sextant::encoding
