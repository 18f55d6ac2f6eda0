// How the chain of modifiers reaches the logits of one head: a few rows against a chunk of keys at a time, while the
// product's sums are in registers or in the nearest cache.
#pragma once
#include <sextant/kernels/attention_host.hpp>

#include <algorithm>

namespace sextant::kernels::host {

template <class T>
class HeadChain {
 public:
  /// none: nothing reaches this head; table: the rows of one table join the product's sums; calls: call() after it.
  enum class Way { none, table, calls };

  HeadChain(Problem<T> const& p, int b, int h) : p_(p), b_(b), h_(h) {
    if (!p.modifiers.empty()) way_ = p.tables.empty() ? Way::calls : Way::none;
    for (auto const& table : p.tables) {
      if (!table.covers(h)) continue;
      way_ = way_ == Way::none ? Way::table : Way::calls;
      table_ = &table;
    }
  }

  /// The way to the chunk of keys at `col`. A table's numbers lie side by side where the keys' positions are neighbours.
  Way way(int col) const {
    if (way_ != Way::table) return way_;
    if (col + chunk > p_.key_len) return Way::calls;
    return is_run(p_.key_position.at(b_, col), chunk) ? Way::table : Way::calls;
  }

  /// What the table adds to rows [row, row + rows) against the chunk at `col`; rows up to R repeat the last.
  template <int R>
  struct TableRows {
    T const* row[R];
  };
  template <int R>
  TableRows<R> table_rows(int row, int rows, int col) const {
    T const* const bias = table_->of_head(h_);
    double const *const query = p_.query_position.at(b_, row), key = *p_.key_position.at(b_, col);
    TableRows<R> out;
    for (int r = 0; r < R; ++r) out.row[r] = bias + table_->at(query[std::min(r, rows - 1)], key);
    return out;
  }

  void call(int row, int rows, int col, int cols, T* logit, int stride) const {
    if (rows <= 0 || cols <= 0) return;
    Tile<T> const tile = p_.tile(b_, h_, row, rows, col, cols, logit, stride);
    for (auto const* link : p_.modifiers) link->forward(tile);
  }

 private:
  Problem<T> const& p_;
  int b_, h_;
  Way way_ = Way::none;
  OffsetTable<T> const* table_ = nullptr;
};

}  // namespace sextant::kernels::host
