// Turns by the vectors of a CPU, written past its cache.
#pragma once
#include <sextant/kernels/rotate_rows.hpp>

namespace sextant::kernels::host {

/// Whether the rows that `turn` writes, its span and the halves of that are whole vectors, as turn_past_cache() writes them.
template <class T>
bool writes_past_cache(Turn<T> const& turn);

/// The rows of a task of `order`, of head_dim channels, turned or, outside the span, copied: the bits of rotate_into().
template <class T>
void turn_past_cache(Turn<T> const& turn, RowOrder const& order, std::int64_t task, int head_dim);

}  // namespace sextant::kernels::host
