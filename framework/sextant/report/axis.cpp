#include <sextant/base/error.hpp>
#include <sextant/report/axis.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
// Few characters, no trailing zeros: 0.5, 1.25, 2,048, 30k, 1e-4.
std::string tick_label(double value) {
  double const size = std::abs(value);
  if (size >= 1e6) return fixed(value / 1e6, std::fmod(size, 1e6) == 0 ? 0 : 1) + "M";
  if (size >= 10000 && std::fmod(size, 1000) == 0) return fixed(value / 1000, 0) + "k";
  if (size >= 1000 && value == std::floor(value)) return grouped(static_cast<long long>(value));
  if (size > 0 && size < 1e-3) return "1e" + fixed(std::round(std::log10(size)), 0);
  std::string out = fixed(value, 6);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

void expect_ends(double low, double high, bool positive) {
  expect(std::isfinite(low) && std::isfinite(high) && low <= high, "axis: ends are ", low, " and ", high,
         ", expected finite and ascending");
  expect(!positive || low > 0, "axis: a logarithmic axis starts at ", low, ", expected > 0");
}

// The power of ten times 1, 2 or 5 nearest above span / wanted.
double nice_step(double span, int wanted) {
  double const raw = span / std::max(1, wanted);
  double const power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double const factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}
}  // namespace

double Axis::share(double x) const {
  if (scale == Scale::linear) return (x - low) / (high - low);
  return (std::log(x) - std::log(low)) / (std::log(high) - std::log(low));
}

Axis linear_axis(double low, double high, int wanted, std::string title) {
  expect_ends(low, high, false);
  if (high - low < 1e-9 * std::max(1.0, std::abs(high))) {
    double const widen = std::max(0.5, std::abs(high) * 0.05);
    low -= widen;
    high += widen;
  }
  double const step = nice_step(high - low, wanted);
  double const half = step / 2;
  Axis axis{
      Scale::linear, std::floor(low / half + 1e-9) * half, std::ceil(high / half - 1e-9) * half, {}, std::move(title)};
  for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; ++k) {
    double const value = std::round(k * step * 1e9) / 1e9;
    axis.ticks.push_back({value == 0 ? 0 : value, tick_label(value)});
  }
  return axis;
}

Axis log2_axis(double low, double high, int most, std::string title) {
  expect_ends(low, high, true);
  if (high <= low) low /= 2, high *= 2;
  Axis axis{Scale::log2, low, high, {}, std::move(title)};
  double const first = std::ceil(std::log2(low) - 1e-9), last = std::floor(std::log2(high) + 1e-9);
  double const stride = std::max(1.0, std::ceil((last - first + 1) / std::max(1, most)));
  for (double k = first; k <= last; k += stride) axis.ticks.push_back({std::exp2(k), tick_label(std::exp2(k))});
  return axis;
}

Axis log10_axis(double low, double high, int most, std::string title) {
  expect_ends(low, high, true);
  if (high <= low) low /= 2, high *= 2;
  Axis axis{Scale::log10, low, high, {}, std::move(title)};
  double const decades = std::log10(high / low);
  std::vector<double> const factors = decades > 3   ? std::vector<double>{1}
                                      : decades > 1 ? std::vector<double>{1, 2, 5}
                                                    : std::vector<double>{1, 1.5, 2, 3, 4, 5, 7};
  double const stride = std::max(1.0, std::ceil(decades * static_cast<double>(factors.size()) / std::max(1, most)));
  double const first = std::floor(std::log10(low) + 1e-9);
  for (double k = first; std::pow(10.0, k) <= high * (1 + 1e-9); k += factors.size() > 1 ? 1 : stride)
    for (double const factor : factors) {
      double const value = factor * std::pow(10.0, k);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) axis.ticks.push_back({value, tick_label(value)});
    }
  return axis;
}

}  // namespace sextant::report
