// Gradients of trained tensors while a Transform's backward runs on several threads.
#pragma once
#include <sextant/plugin.hpp>

#include <algorithm>
#include <vector>

namespace sextant::plugins {

/// `width` sums for every (side, batch row, head), each written by one call at a time, added up in a fixed order.
class PartialSums {
 public:
  void reset(int batch, int heads, int kv_heads, std::size_t width) {
    batch_ = batch, heads_ = heads, kv_heads_ = kv_heads, width_ = width;
    sums_.assign(static_cast<std::size_t>(batch) * (heads + kv_heads) * width, 0.0);
  }
  double* at(encoding::Side side, int b, int h) {
    std::size_t const row = static_cast<std::size_t>(b) * (heads_ + kv_heads_) + h;
    return sums_.data() + (side == encoding::Side::query ? row : row + heads_) * width_;
  }
  /// The sum over batch rows, both sides and, unless `per_head`, all heads; of width `width`, for head h or for all.
  std::vector<double> total(int h, bool per_head) {
    std::vector<double> out(width_, 0.0);
    for (int b = 0; b < batch_; ++b)
      for (auto side : {encoding::Side::query, encoding::Side::key}) {
        int const heads = side == encoding::Side::query ? heads_ : kv_heads_;
        for (int n = per_head ? h : 0; n < (per_head ? h + 1 : heads); ++n) {
          double const* from = at(side, b, n);
          for (std::size_t i = 0; i < width_; ++i) out[i] += from[i];
        }
      }
    return out;
  }

 private:
  int batch_ = 0, heads_ = 0, kv_heads_ = 0;
  std::size_t width_ = 0;
  std::vector<double> sums_;
};

/// f(n) for n = 0 .. count - 1 on the threads of `exec`.
template <class F>
void for_each_index(Exec const& exec, std::int64_t count, F const& f) {
  Kokkos::parallel_for("sextant::plugin", Kokkos::RangePolicy<HostExec>(host_side(exec), 0, count),
                       [=](std::int64_t n) { f(n); });
  exec.fence();
}

/// Tokens that a transform's small products take at a time.
inline constexpr int token_block = 64;

/// Per-head tensors meet query and key of the same head: throws Error unless there are as many of both.
inline void expect_equal_heads(char const* name, encoding::Shape const& shape) {
  expect(shape.heads == shape.kv_heads, name,
         " has matrices of its own for every head, which needs as many key heads (", shape.kv_heads,
         ") as query heads (", shape.heads, ")");
}

}  // namespace sextant::plugins
