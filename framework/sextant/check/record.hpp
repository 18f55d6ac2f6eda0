// Links that change nothing and copy the logits as they are at their place in attention's chain.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/strip.hpp>
#include <sextant/kernels/tile.hpp>

namespace sextant::check {

/// [batch, heads, query_len, key_len]; tiles and strips that nobody visits keep what was there.
template <class T>
class RecordLogits final : public kernels::TileModifier<T>, public kernels::RowLink<T> {
 public:
  explicit RecordLogits(View4<T> logits) : logits_(std::move(logits)) {}
  void forward(kernels::Tile<T> const& tile) const override {
    copy(tile.batch, tile.head, tile.row, tile.rows, tile.col, tile.cols, tile.logit, tile.stride);
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
  void forward(kernels::Strip<T> const& strip, kernels::Operands<T> const&) const override {
    copy(strip.batch, strip.head, strip.row, strip.rows, 0, strip.cols, strip.logit, strip.stride);
  }
  using kernels::RowLink<T>::backward;

 private:
  void copy(int b, int h, int row, int rows, int col, int cols, T const* from, std::ptrdiff_t stride) const {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) logits_(b, h, row + r, col + c) = from[r * stride + c];
  }
  View4<T> logits_;
};

}  // namespace sextant::check
