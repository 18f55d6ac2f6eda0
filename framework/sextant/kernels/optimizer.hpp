// AdamW over one contiguous arena.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", arXiv:1711.05101, algorithm 2.
struct AdamW {
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.95;
  double eps = 1e-8;
  double decay = 0.1;  ///< a decayed parameter shrinks by the factor 1 - rate * decay before its step
};

/// One step, in place. Entries [0, decayed) of the arena are decayed, the rest (gains, biases, ...) are not.
///   step         1 for the first
///   grad_factor  multiplies every gradient on the way in: 1, or what clipping says
///   parameter, grad, moment1, moment2   [n]
template <class T>
void adamw(Exec const& exec, AdamW const& options, std::int64_t step, double grad_factor, std::int64_t decayed,
           View1<T> const& parameter, View1<T const> const& grad, View1<T> const& moment1, View1<T> const& moment2);

}  // namespace sextant::kernels
