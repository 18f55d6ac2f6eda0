// Rows of tokens read piece by piece through a key cache, as a model that answers reads them.
#pragma once
#include <sextant/run/stages.hpp>

namespace sextant::run {

class CachedReader {
 public:
  /// `tokens` [rows, length] may be filled while they are read; `positions` as tokens, or empty: 0, 1, 2, ... `first`: how
  /// many tokens the first piece has. Throws Error where a scaling turns the first tokens of a longer text otherwise.
  CachedReader(Exec const& exec, Network& network, View2<int> const& tokens, View2<double> const& positions, int first);

  /// The next `count` tokens of every row; `logits` [rows * n, vocabulary] of the last n of them.
  void read(int count, View2<float> const& logits);

 private:
  Exec exec_;
  Network& network_;
  View2<int> tokens_;
  View2<double> positions_;
  model::KvCache<float> cache_;
};

}  // namespace sextant::run
