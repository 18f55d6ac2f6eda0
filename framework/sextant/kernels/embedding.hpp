// Table lookup by token and its gradient, which needs no atomics: each vocabulary row sums its own tokens in order.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// out[i] = table[token[i]].   table [vocabulary, width]   token [rows], within the vocabulary   out [rows, width]
template <class T>
void embedding_forward(Exec const& exec, View2<T const> const& table, View1<int const> const& token,
                       View2<T> const& out);

/// Where each vocabulary entry occurs: rows order[start[v]] .. order[start[v + 1] - 1], ascending.
struct TokenIndex {
  View1<int> start;  ///< [vocabulary + 1]
  View1<int> order;  ///< [rows]
};

/// Fills `index` by a counting sort; its views are made, or made larger, when they are too small.
void index_tokens(Exec const& exec, View1<int const> const& token, int vocabulary, TokenIndex& index);

/// grad_table[v] += the sum of grad_out over the rows where token v stands, in ascending order of rows.
template <class T>
void embedding_backward(Exec const& exec, TokenIndex const& index, View2<T const> const& grad_out,
                        View2<T> const& grad_table);

}  // namespace sextant::kernels
