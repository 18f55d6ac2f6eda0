// The tokens that one pass of a model reads.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::model {

struct Batch {
  View2<int> tokens;        ///< [batch, seq_len], each within the vocabulary (padding too)
  View2<int> targets;       ///< [batch, seq_len]; a negative one is not predicted; empty when no loss is wanted
  View2<double> positions;  ///< [batch, seq_len] in tokens; empty: 0, 1, 2, ... in every row
  View2<int> documents;     ///< [batch, seq_len]; a token sees its own id only; negative: padding; empty: one document

  int size() const { return tokens.extent_int(0); }
  int seq_len() const { return tokens.extent_int(1); }
  std::int64_t count() const { return static_cast<std::int64_t>(tokens.extent(0)) * tokens.extent_int(1); }

  /// Throws Error when a shape differs from that of tokens or a token or target lies outside [0, vocabulary).
  void check(Exec const& exec, int vocabulary) const;
  /// Rows first, first + 1, ... first + rows - 1, seen in place.
  Batch rows(int first, int rows) const;
};

/// Cuts rows of text, [batch, seq_len + 1], into inputs (all but the last) and targets (all but the first).
Batch next_token_batch(Exec const& exec, View2<int> const& rows);

/// 0, 1, 2, ... as a single row of positions [1, seq_len], from `start` on.
View2<double> running_positions(Exec const& exec, int seq_len, double start = 0);

}  // namespace sextant::model
