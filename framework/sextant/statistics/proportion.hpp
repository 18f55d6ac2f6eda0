// Shares of successes.
#pragma once
#include <sextant/statistics/sample.hpp>

namespace sextant::statistics {

/// Wilson's score interval of a share: `successes` of n >= 1 trials, at a confidence inside (0, 1). Its ends lie in [0, 1], also
/// at no success and at all. Wilson 1927, J. Amer. Statist. Assoc. 22:209.
Interval wilson(int successes, int n, double confidence);

}  // namespace sextant::statistics
