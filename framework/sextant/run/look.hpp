// What attention looks like in a text: entropy, spread of the logits, and how far the weight lies, by layer and head.
#pragma once
#include <sextant/run/stages.hpp>

#include <span>
#include <vector>

namespace sextant::run {

struct Gaze {
  int layers = 0, heads = 0, length = 0;
  std::vector<double> entropy;  ///< [layer, head] of a row's weights, in nat, mean over rows
  std::vector<double> spread;   ///< [layer, head] standard deviation of the logits that a row sees, mean over rows
  std::vector<double> mass;     ///< [layer, head, distance] weight at 0, 1, ... length - 1 tokens back, mean over rows

  /// Least distance within which the share `q` of a head's weight lies, in tokens.
  double quantile(int layer, int head, double q) const;
};

/// Over `count` rows, evenly spread over the last half of the text. `positions` [1, tokens]: where each token stands;
/// empty: 0, 1, 2, ...
Gaze look(Exec const& exec, Network& network, std::span<std::int32_t const> tokens, int count,
          View2<double> const& positions = {});

}  // namespace sextant::run
