// Softmax cross-entropy by token, and its gradient in the logits' own memory.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// nll[i] = log(sum_v exp(logits[i, v])) - logits[i, target[i]], in nat; 0 where target[i] < 0 (no target).
///   logits [rows, vocabulary]   target [rows], below the vocabulary   nll [rows]
template <class T>
void cross_entropy(Exec const& exec, View2<T const> const& logits, View1<int const> const& target,
                   View1<double> const& nll);

/// The same, and overwrites each row of logits with scale * (softmax - one-hot target), or 0 where there is no target:
/// the gradient of scale * sum(nll).
template <class T>
void cross_entropy_with_gradient(Exec const& exec, View2<T> const& logits, View1<int const> const& target, double scale,
                                 View1<double> const& nll);

}  // namespace sextant::kernels
