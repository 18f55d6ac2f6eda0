#include <sextant/base/error.hpp>
#include <sextant/model/schedule.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::model {

void Schedule::check() const {
  expect(rate > 0, "schedule: rate is ", rate, ", expected a number > 0");
  expect(steps >= 1, "schedule: steps is ", steps, ", expected at least 1");
  expect(warmup >= 0 && warmup <= steps, "schedule: warmup is ", warmup, " steps, expected 0 to the ", steps,
         " in all");
  expect(floor >= 0 && floor <= 1, "schedule: floor is ", floor, ", expected 0 to 1");
}

double Schedule::rate_at(std::int64_t step) const {
  expect(step >= 1, "schedule: step is ", step, ", expected 1 for the first");
  if (step <= warmup) return rate * static_cast<double>(step) / static_cast<double>(warmup);
  double const span = static_cast<double>(std::max<std::int64_t>(1, steps - warmup));
  double const done = std::min(1.0, static_cast<double>(step - warmup) / span);
  return rate * (floor + (1 - floor) * 0.5 * (1 + std::cos(M_PI * done)));
}

}  // namespace sextant::model
