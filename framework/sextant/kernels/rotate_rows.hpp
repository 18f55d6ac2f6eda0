// What the ways to rotate share: a turn as plain pointers, the arithmetic of a pair, and the order of rows. Nothing here knows
// Kokkos, so that files for the CPU's vectors compile without it.
#pragma once
#include <sextant/kernels/blocks_of.hpp>
#include <sextant/kernels/rows.hpp>

#include <algorithm>
#include <cstdint>

namespace sextant::kernels {

template <class T>
struct Turn {
  Rows<T const> from;
  Rows<T> to;              ///< may be `from`
  Rows<T const> cos, sin;  ///< heads count from head_begin
  int head_begin = 0, head_end = 0, channel_begin = 0, pairs = 0;
  bool interleaved = false;
  SEXTANT_FUNCTION bool turns(int h) const { return h >= head_begin && h < head_end; }
  SEXTANT_FUNCTION int channel_end() const { return channel_begin + 2 * pairs; }
};

/// (a, b) of numbers or vectors of them, turned by the angle of `cosine` and `sine`.
template <class V, class To>
SEXTANT_FUNCTION inline void turn_pair(V a, V b, V cosine, V sine, To& to_a, To& to_b) {
  to_a = a * cosine - b * sine;
  to_b = b * cosine + a * sine;
}

/// The rows of a range of heads, cut into tasks of a stretch of tokens, as memory serves them best: few long streams of reads.
/// Where the heads of a token lie together, they are one. Where the tokens of a head do, a few heads are walked side by
/// side, stretch after stretch, and each row of the table serves them all.
class RowOrder {
  static constexpr int side_by_side = 4, stretch = 32;
  int len_, begin_, end_, group_, groups_, stretches_, batch_;

 public:
  template <class T>
  RowOrder(Rows<T> const& x, int batch, int len, int head_begin, int head_end)
      : len_(len), begin_(head_begin), end_(head_end), batch_(batch) {
    bool const heads_apart = x.head > x.row;  // [batch, heads, len, dim], not [batch, len, heads, dim]
    int const heads = end_ - begin_;
    group_ = std::max(1, heads_apart ? std::min(heads, side_by_side) : heads);
    groups_ = blocks_of(heads, group_);
    stretches_ = blocks_of(len_, stretch);
  }
  std::int64_t tasks() const { return std::int64_t(batch_) * groups_ * stretches_; }
  std::int64_t task_rows() const { return std::int64_t(group_) * std::min(len_, stretch); }
  /// each(b, h, i) for the rows of a task.
  template <class Each>
  SEXTANT_FUNCTION void visit(std::int64_t task, Each const& each) const {
    int const first = static_cast<int>(task % stretches_) * stretch;
    int const last = first + stretch < len_ ? first + stretch : len_;
    std::int64_t const group = task / stretches_;
    int const b = static_cast<int>(group / groups_), from = begin_ + static_cast<int>(group % groups_) * group_;
    int const to = from + group_ < end_ ? from + group_ : end_;
    for (int i = first; i < last; ++i)
      for (int h = from; h < to; ++h) each(b, h, i);
  }
};

}  // namespace sextant::kernels
