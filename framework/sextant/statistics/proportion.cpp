#include <sextant/base/error.hpp>
#include <sextant/statistics/proportion.hpp>

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::statistics {

Interval wilson(int successes, int n, double confidence) {
  expect(n >= 1 && successes >= 0 && successes <= n, "wilson: ", successes, " successes of ", n,
         " trials, expected at least one trial and no more successes");
  expect(confidence > 0 && confidence < 1, "wilson: confidence is ", confidence, ", expected inside (0, 1)");
  double const z = boost::math::quantile(boost::math::normal(), 0.5 + confidence / 2), trials = n,
               share = successes / trials;
  double const middle = (share + z * z / (2 * trials)) / (1 + z * z / trials);
  double const half =
      z / (1 + z * z / trials) * std::sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials));
  return {successes == 0 ? 0 : std::max(0.0, middle - half), successes == n ? 1 : std::min(1.0, middle + half)};
}

}  // namespace sextant::statistics
