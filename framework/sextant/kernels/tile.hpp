// The contract between attention and what changes its logits: a chain of modifiers, each called once per tile.
#pragma once
#include <sextant/base/function.hpp>

#include <cstdint>

namespace sextant::kernels {

/// One block of logits of one query head while it is in cache.
template <class T>
struct Tile {
  int batch, head;  ///< head counts query heads
  int row, col;     ///< index of the first query and the first key in their arrays
  int rows, cols;
  T* logit;  ///< [rows, stride], natural units: softmax takes exp of it as it stands
  int stride;
  double const* query_position;  ///< of the tile's rows
  double const* key_position;    ///< of the tile's columns
};

/// Whether positions follow one another: each is 1 above the one before.
SEXTANT_FUNCTION inline bool is_run(double const* position, int count) {
  bool run = true;
  for (int i = 1; i < count; ++i) run &= position[i] - position[i - 1] == 1.0;
  return run;
}

/// A link that adds a number per offset, key position - query position, to the logits of heads [head_begin, + heads).
template <class T>
struct OffsetTable {
  T const* bias = nullptr;  ///< [heads, width], in memory that the device reaches
  T* grad = nullptr;        ///< [batch, heads, width], to which a backward adds; null: none is wanted
  int head_begin = 0, heads = 0;
  std::int64_t width = 0;
  double first = 0;  ///< the offset of entry 0; every pair of the input has its entry

  SEXTANT_FUNCTION bool covers(int head) const { return head >= head_begin && head < head_begin + heads; }
  SEXTANT_FUNCTION T const* of_head(int head) const { return bias + (head - head_begin) * width; }
  SEXTANT_FUNCTION std::int64_t at(double query_position, double key_position) const {
    return static_cast<std::int64_t>(key_position - query_position - first);
  }
};

enum class Visible { none, some, all };

/// One link of the chain. A call costs one virtual dispatch per tile, so any chain composes at run time and across
/// shared objects while the body stays inlined over the tile.
template <class T>
class TileModifier {
 public:
  virtual ~TileModifier() = default;

  /// Which pairs of rows [row, row + rows) and columns [col, col + cols) of one batch row this link leaves visible:
  /// `none` lets attention skip the tile, and promises that forward() would set all of it to -infinity. A link that
  /// hides single pairs does so in forward(). What backward() would have added for a skipped tile is zero.
  virtual Visible visible(int batch, int row, int rows, int col, int cols) const {
    (void)batch, (void)row, (void)rows, (void)col, (void)cols;
    return Visible::all;
  }

  /// Adds to tile.logit (or sets entries to -infinity). Tiles come in any order, from several threads at once.
  virtual void forward(Tile<T> const& tile) const = 0;

  /// grad[rows, grad_stride] is d loss / d logit of the tile (0 where masked); tile.logit is not defined. Accumulates
  /// the gradients of what this link read. All tiles of one (batch, head) come from one thread in a fixed order;
  /// different (batch, head) come concurrently, so what they share must be kept apart per (batch, head) and reduced
  /// in a fixed order afterwards.
  virtual void backward(Tile<T> const& tile, T const* grad, int grad_stride) = 0;

  /// All that forward() and backward() do, as a table: the form that a device takes, and which a host's forward() may be
  /// replaced by. Null `bias`: it has no such form.
  virtual OffsetTable<T> table() { return {}; }
};

}  // namespace sextant::kernels
