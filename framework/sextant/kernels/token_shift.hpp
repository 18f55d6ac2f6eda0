// Key-value shift: every key and value head is mixed with the one of the token before, by a gate from the token.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// Rows of tokens [batch * seq_len, heads * dim] with any distance between rows, and the gate of every head.
template <class T>
struct TokenShift {
  View2<T> logit;              ///< [batch * seq_len, heads]; a = sigmoid(logit)
  View2<T> plain;              ///< [batch * seq_len, heads * dim]: x before the shift
  View2<T> before;             ///< [batch, heads * dim]: plain x of the token before the first; empty: none
  View2<int> document;         ///< [batch, seq_len] or empty: the first token of a document has none before it
  View1<int> document_before;  ///< [batch], with `before`
};

/// x_i = (1 - a_i) x_i + a_i x_{i-1}, from the unshifted x_{i-1} (zero where there is none). Keeps x in shift.plain.
///   x [batch * seq_len, heads * dim] at `data` with rows `stride` apart
/// Source: Lin et al., arXiv:2503.02130, "KV-shift"; the GRAPE tables (arXiv:2512.07805) vary it.
template <class T>
void token_shift_forward(Exec const& exec, T* data, std::int64_t stride, int batch, int seq_len, int dim,
                         TokenShift<T> const& shift);

/// In place: the gradient with respect to the shifted rows becomes that with respect to the plain ones; shift.logit
/// becomes d loss / d logit. `before` must be empty.
template <class T>
void token_shift_backward(Exec const& exec, T* grad, std::int64_t stride, int batch, int seq_len, int dim,
                          TokenShift<T> const& shift);

}  // namespace sextant::kernels
