// What single rows of attention look like, by the plain loops: for measurements, not for training.
#pragma once
#include <sextant/kernels/attention.hpp>

#include <vector>

namespace sextant::kernels {

struct RowStatistics {
  double entropy = 0;     ///< -sum a ln a of the weights, in nat
  double mean = 0;        ///< of the logits of the keys that are seen
  double spread = 0;      ///< their standard deviation
  double sharpest = 0;    ///< the greatest weight
  double distance = 0;    ///< sum a |p_i - p_j|, in tokens
  std::int64_t seen = 0;  ///< keys that the row sees; with 0 all else is 0
};

/// Row `i` of query head `h` of batch row `b`: O(keys x head_dim) work and memory, logits in double. `weights`,
/// when given, become those of all keys, 0 where the row sees none.
template <class T>
RowStatistics row_statistics(AttentionInput<T> const& in, int b, int h, int i, std::vector<double>* weights = nullptr);

}  // namespace sextant::kernels
