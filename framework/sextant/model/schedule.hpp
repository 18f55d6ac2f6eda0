// The learning rate of each step.
#pragma once
#include <cstdint>

namespace sextant::model {

/// Rises linearly over `warmup` steps to `rate`, then falls along half a cosine to floor * rate at the last step.
struct Schedule {
  double rate = 1e-3;
  std::int64_t warmup = 0;  ///< steps
  std::int64_t steps = 1;   ///< in all
  double floor = 0.1;       ///< share of rate that is left at the last step

  /// Throws Error when a member is out of range.
  void check() const;
  /// Of step 1, 2, ... steps; later steps keep the floor.
  double rate_at(std::int64_t step) const;
};

}  // namespace sextant::model
