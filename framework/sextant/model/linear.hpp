// The products of a model with its weights, in the precision that the weights are there in.
#pragma once
#include <sextant/model/weights.hpp>

#include <type_traits>

namespace sextant::model {

/// y = x weight^T; `few` rows are read by kernels::matmul_few.
template <class T>
void linear(Exec const& exec, bool few, View2<T> const& x, Projection<T> const& weight, View2<T> const& y) {
  using namespace kernels;
  if constexpr (std::is_same_v<T, float>)
    if (weight.rounded.size()) {
      if (few) return matmul_few_bf16(exec, x, weight.rounded, y);
      return matmul_bf16<BFloat16>(exec, x, Op::plain, weight.rounded, Op::transposed, y);
    }
  if (few)
    matmul_few<T>(exec, x, weight.exact, y);
  else
    matmul<T>(exec, x, Op::plain, weight.exact, Op::transposed, y);
}

/// grad_x = grad_y weight, or += .
template <class T>
void linear_backward_input(Exec const& exec, View2<T> const& grad_y, Projection<T> const& weight,
                           View2<T> const& grad_x, kernels::Into into = kernels::Into::overwrite) {
  using namespace kernels;
  if constexpr (std::is_same_v<T, float>)
    if (weight.rounded.size())
      return matmul_bf16<BFloat16>(exec, grad_y, Op::plain, weight.rounded, Op::plain, grad_x, into);
  matmul<T>(exec, grad_y, Op::plain, weight.exact, Op::plain, grad_x, into);
}

/// grad_weight += grad_y^T x, of operands rounded as `weight` is.
template <class T>
void linear_backward_weight(Exec const& exec, View2<T> const& x, Projection<T> const& weight, View2<T> const& grad_y,
                            View2<T> const& grad_weight) {
  using namespace kernels;
  if constexpr (std::is_same_v<T, float>)
    if (weight.rounded.size())
      return matmul_bf16<float>(exec, grad_y, Op::transposed, x, Op::plain, grad_weight, Into::add);
  matmul<T>(exec, grad_y, Op::transposed, x, Op::plain, grad_weight, Into::add);
}

template <class T>
void linear_backward(Exec const& exec, View2<T> const& x, Projection<T> const& weight, View2<T> const& grad_y,
                     View2<T> const& grad_x, Projection<T> const& grad_weight) {
  linear_backward_weight(exec, x, weight, grad_y, grad_weight.exact);
  linear_backward_input(exec, grad_y, weight, grad_x);
}

/// What attention is about to take, rounded in place under Precision::bf16.
template <class T>
void round_operands(Exec const& exec, Precision precision, encoding::Encoded<T> const& encoded, Heads<T> const& value) {
  if constexpr (std::is_same_v<T, float>) {
    if (precision != Precision::bf16) return;
    for (auto const& query : encoded.query) kernels::round_heads_to_bf16(exec, query);
    for (auto const& key : encoded.key) kernels::round_heads_to_bf16(exec, key);
    kernels::round_heads_to_bf16(exec, value);
  }
}

}  // namespace sextant::model
