// Rows of activations seen in place, and the logits of some of them at a time.
#pragma once
#include <sextant/base/launch.hpp>
#include <sextant/model/batch.hpp>
#include <sextant/model/buffers.hpp>
#include <sextant/model/linear.hpp>

#include <algorithm>

namespace sextant::model {

template <class T>
View2<T> rows_of(View2<T> const& x, std::int64_t first, int rows) {
  return View2<T>(x.data() + first * x.extent_int(1), static_cast<std::size_t>(rows), x.extent(1));
}
template <class T>
View1<T> part_of(View1<T> const& x, int first, int count) {
  return View1<T>(x.data() + first, static_cast<std::size_t>(count));
}

/// Targets of the batch in a row, negative for padding too; returns how many are predicted.
std::int64_t gather_targets(Exec const& exec, Batch const& batch, View1<int> const& target);

/// Calls body(first row, how many, logits of these rows) for the rows of x_normed, as many at once as logits hold.
template <class T, class Body>
void for_logits(Exec const& exec, Weights<T> const& weights, Buffers<T> const& buffers, Body const& body) {
  int const step = buffers.logits.extent_int(0);
  for (int first = 0; first < buffers.rows(); first += step) {
    int const count = std::min(step, buffers.rows() - first);
    auto const logits = rows_of(buffers.logits, 0, count);
    linear(exec, false, rows_of(buffers.x_normed, first, count), weights.output, logits);
    body(first, count, logits);
  }
}

/// The last `last` of every `seq_len` rows of x: x itself where that is all of them or one run of them.
template <class T>
View2<T> last_rows(Exec const& exec, View2<T> const& x, int seq_len, int last) {
  int const batch = x.extent_int(0) / seq_len, width = x.extent_int(1);
  if (batch == 1 || last == seq_len) return rows_of(x, seq_len - last, batch * last);
  View2<T> const out(uninitialized("sextant::last_rows"), static_cast<std::size_t>(batch * last), x.extent(1));
  launch(
      exec, "sextant::last_rows", batch * last, width, KOKKOS_LAMBDA(int i) {
        int const from = i / last * seq_len + seq_len - last + i % last;
        for (int c = 0; c < width; ++c) out(i, c) = x(from, c);
      });
  return out;
}

}  // namespace sextant::model
