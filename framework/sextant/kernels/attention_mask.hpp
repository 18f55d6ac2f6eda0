// Which keys a row sees, asked for in blocks: an interval from causality and window, and equal document ids.
#pragma once
#include <sextant/base/function.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant::kernels::host {

/// kernels::Mask as plain pointers; ids are [batch, length] or null.
struct MaskRule {
  bool causal = true;
  int window = 0;
  int const* query_document = nullptr;
  int const* key_document = nullptr;
};

struct Span {
  int begin, end;  ///< half open
};

/// The mask of one batch row.
class MaskRow {
 public:
  SEXTANT_FUNCTION MaskRow(MaskRule const& rule, int batch, int query_len, int key_len)
      : causal_(rule.causal), window_(rule.window), key_len_(key_len), offset_(std::int64_t(key_len) - query_len) {
    if (rule.query_document) query_id_ = rule.query_document + std::int64_t(batch) * query_len;
    if (rule.key_document) key_id_ = rule.key_document + std::int64_t(batch) * key_len;
  }

  SEXTANT_FUNCTION int const* query_ids() const { return query_id_; }
  SEXTANT_FUNCTION int const* key_ids() const { return key_id_; }

  /// What causality and window leave to a row; empty spans have begin >= end.
  SEXTANT_FUNCTION Span keys(int row) const {
    std::int64_t const own = row + offset_;
    std::int64_t const begin = window_ ? own - window_ + 1 : 0;
    std::int64_t const end = causal_ ? own + 1 : window_ ? own + window_ : key_len_;
    return {static_cast<int>(begin < 0 ? 0 : begin),
            static_cast<int>(end < 0          ? 0
                             : end > key_len_ ? key_len_
                                              : end)};  // std::clamp is the host's alone
  }
  /// Hull over rows [row, row + rows): both ends grow with the row.
  SEXTANT_FUNCTION Span keys(int row, int rows) const { return {keys(row).begin, keys(row + rows - 1).end}; }

  SEXTANT_FUNCTION bool visible(int row, int col) const {
    Span const span = keys(row);
    if (col < span.begin || col >= span.end) return false;
    return !key_id_ || (query_id_[row] >= 0 && query_id_[row] == key_id_[col]);
  }

  /// Smallest and largest id of a stretch; {0, 0} without documents.
  Span query_range(int row, int rows) const { return range(query_id_, row, rows); }
  Span key_range(int col, int cols) const { return range(key_id_, col, cols); }

  struct Part {
    int begin = 0, end = 0;  ///< columns of the block outside of which nothing is visible; equal: nothing at all
    bool masked = false;     ///< some pair between them is hidden
  };
  /// Rows [row, row + rows) against the block of `cols` columns at `col`, which may stick out past the last key.
  Part part(int row, int rows, Span query_range, int col, int cols, Span key_range) const {
    Span const first = keys(row), last = keys(row + rows - 1);
    Part const p{std::max(first.begin - col, 0), std::min(last.end - col, cols), false};
    bool const meet = query_range.begin <= key_range.end && key_range.begin <= query_range.end &&
                      query_range.end >= 0 && key_range.end >= 0;
    if (p.begin >= p.end || !meet) return {};
    bool const one = query_range.begin == query_range.end && key_range.begin == key_range.end;
    return {p.begin, p.end, !one || last.begin > col || first.end < col + cols};
  }

  /// Sets the hidden pairs among columns [begin, end) of the block to -infinity.
  template <class T>
  void hide(T* logit, std::ptrdiff_t stride, int row, int rows, int col, int begin, int end) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    for (int r = 0; r < rows; ++r, logit += stride) {
      Span const span = keys(row + r);
      int const lo = std::clamp(span.begin - col, begin, end), hi = std::clamp(span.end - col, lo, end);
      std::fill(logit + begin, logit + lo, hidden);
      std::fill(logit + hi, logit + end, hidden);
      if (!key_id_) continue;
      int const own = query_id_[row + r];
      int const* const id = key_id_ + col;
      for (int j = lo; j < hi; ++j) logit[j] = id[j] == own && own >= 0 ? logit[j] : hidden;
    }
  }

 private:
  static Span range(int const* id, int at, int count) {
    if (!id || count <= 0) return {0, 0};
    int low = id[at], high = id[at];
    for (int i = 1; i < count; ++i) low = std::min(low, id[at + i]), high = std::max(high, id[at + i]);
    return {low, high};
  }

  bool causal_;
  int window_, key_len_;
  std::int64_t offset_;
  int const* query_id_ = nullptr;
  int const* key_id_ = nullptr;
};

}  // namespace sextant::kernels::host
