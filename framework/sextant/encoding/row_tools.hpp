// What row terms share: scratch memory of a thread, stretches of neighbouring positions, sums kept apart per head.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/kernels/simd.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace sextant::encoding {

/// Room for n numbers of the calling thread, undefined, until its next call with the same Slot.
template <class T, int Slot>
T* scratch(std::size_t n) {
  thread_local std::vector<T> room;
  if (room.size() < n) room.resize(n);
  return room.data();
}

/// Keys [begin, end) at positions `first`, first + 1, ...
struct PositionRun {
  int begin, end;
  std::int64_t first;
};

/// Whole positions as runs, in order. Valid until the calling thread's next call.
inline std::vector<PositionRun> const& position_runs(double const* position, int count) {
  thread_local std::vector<PositionRun> runs;
  runs.clear();
  for (int at = 0; at < count;) {
    int end = at + 1;
    while (end < count && position[end] == position[end - 1] + 1) ++end;
    runs.push_back({at, end, static_cast<std::int64_t>(position[at])});
    at = end;
  }
  return runs;
}

/// The parts of a run whose key - query offsets are at most -reach, between, and at least reach:
/// edge(begin, end, 0); middle(begin, end, index of the first, from 1 on); edge(begin, end, 2 * reach).
template <class Edge, class Middle>
void clipped_offsets(PositionRun const& run, std::int64_t query, int reach, Edge&& edge, Middle&& middle) {
  auto const clamp = [](std::int64_t j, int least, int most) {
    return static_cast<int>(j < least ? least : (j > most ? most : j));
  };
  std::int64_t const own = run.begin + query - run.first;  // the key at the query's position, if the run went on to it
  int const left = clamp(own - reach + 1, run.begin, run.end), right = clamp(own + reach, left, run.end);
  if (left > run.begin) edge(run.begin, left, 0);
  if (right > left) middle(left, right, static_cast<int>(left - own + reach));
  if (run.end > right) edge(right, run.end, 2 * reach);
}

/// logit + more, and -infinity where the pair is hidden, whatever `more` is.
template <class T>
SEXTANT_INLINE T unless_hidden(T logit, T more) {
  return logit == -std::numeric_limits<T>::infinity() ? logit : logit + more;
}

/// A copy [rows, dim] of the strip's query rows plus `shift` (or null), 0 where a row's gradient is 0 throughout: what
/// lies in rows of padding, even NaN, goes no further.
template <class T, int Slot>
T* rows_with_gradient(T const* from, std::ptrdiff_t from_stride, int rows, int dim, T const* grad,
                      std::ptrdiff_t grad_stride, int cols, T const* shift = nullptr) {
  T* const out = scratch<T, Slot>(static_cast<std::size_t>(rows) * dim);
  for (int r = 0; r < rows; ++r) {
    T const* const g = grad + r * grad_stride;
    bool const any = std::any_of(g, g + cols, [](T x) { return x != 0; });
    for (int c = 0; c < dim; ++c) out[r * dim + c] = any ? from[r * from_stride + c] + (shift ? shift[c] : T(0)) : T(0);
  }
  return out;
}

/// One array of n sums for every (batch row, head of the term), added up in that order.
template <class T>
class SumsPerHead {
 public:
  void reset(int batch, int heads, std::size_t n) {
    heads_ = heads, n_ = n;
    sums_.assign(static_cast<std::size_t>(batch) * heads * n, T(0));
  }
  T* at(int b, int h) { return sums_.data() + (static_cast<std::size_t>(b) * heads_ + h) * n_; }
  /// into[n]: of all heads; or [heads, n], a row a head.
  void add_to(std::vector<double>& into, bool per_head) const {
    std::size_t const period = per_head ? heads_ * n_ : n_;
    for (std::size_t i = 0; i < sums_.size(); ++i) into[i % period] += static_cast<double>(sums_[i]);
  }

 private:
  std::size_t heads_ = 1, n_ = 0;
  std::vector<T> sums_;
};

/// The tensors in the number type of the work.
template <class T>
std::vector<std::vector<T>> narrowed(Tensors const& tensors) {
  std::vector<std::vector<T>> out;
  for (auto const& tensor : tensors) out.emplace_back(tensor.begin(), tensor.end());
  return out;
}

}  // namespace sextant::encoding
