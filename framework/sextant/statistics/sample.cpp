#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/statistics/sample.hpp>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace sextant::statistics {
namespace {
void expect_confidence(double confidence) {
  expect(confidence > 0 && confidence < 1, "statistics: confidence is ", confidence, ", expected inside (0, 1)");
}

std::optional<Interval> interval_of(std::vector<double> const& values, double confidence, Method method) {
  if (values.size() < 2) return std::nullopt;
  if (method == Method::bootstrap) return bootstrap_interval(values, confidence);
  double const n = static_cast<double>(values.size()), center = mean(values);
  double const half = t_quantile(0.5 + 0.5 * confidence, n - 1) * sample_sd(values) / std::sqrt(n);
  return Interval{center - half, center + half};
}
}  // namespace

double mean(std::span<double const> values) {
  expect(!values.empty(), "statistics: the mean of no values was asked for");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_sd(std::span<double const> values) {
  expect(values.size() >= 2, "statistics: a standard deviation needs 2 values, found ", values.size());
  double const center = mean(values);
  double sum = 0;
  for (double const v : values) sum += (v - center) * (v - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double t_quantile(double probability, double dof) {
  expect(dof > 0, "statistics: degrees of freedom are ", dof, ", expected > 0");
  expect(probability > 0 && probability < 1, "statistics: probability is ", probability, ", expected inside (0, 1)");
  return boost::math::quantile(boost::math::students_t_distribution<double>(dof), probability);
}

double t_two_sided_p(double t, double dof) {
  expect(dof > 0, "statistics: degrees of freedom are ", dof, ", expected > 0");
  expect(!std::isnan(t), "statistics: t is not a number");
  if (std::isinf(t)) return 0;
  boost::math::students_t_distribution<double> const distribution(dof);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

double sorted_quantile(std::span<double const> sorted, double q) {
  double const at = q * static_cast<double>(sorted.size() - 1);
  std::size_t const below = static_cast<std::size_t>(std::floor(at));
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - std::floor(at));
}

Summary summarize(std::span<double const> values, double confidence, Method method) {
  expect_confidence(confidence);
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  Summary out;
  out.n = static_cast<int>(finite.size());
  out.not_finite = static_cast<int>(values.size() - finite.size());
  if (out.n >= 1) out.mean = mean(finite);
  if (out.n >= 2) out.sd = sample_sd(finite);
  out.interval = interval_of(finite, confidence, method);
  return out;
}

Paired paired(std::span<double const> value, std::span<double const> baseline, double confidence, Method method) {
  expect_confidence(confidence);
  expect(value.size() == baseline.size(), "statistics: ", value.size(), " values are paired with ", baseline.size(),
         " of the baseline, expected one a seed on both sides");
  std::vector<double> difference;
  double largest = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!std::isfinite(value[i]) || !std::isfinite(baseline[i])) continue;
    difference.push_back(value[i] - baseline[i]);
    largest = std::max({largest, std::abs(value[i]), std::abs(baseline[i])});
  }
  Paired out;
  out.n = static_cast<int>(difference.size());
  if (out.n >= 1) out.difference = mean(difference);
  if (out.n < 2) return out;
  out.interval = interval_of(difference, confidence, method);
  double const sd = sample_sd(difference), rounding = 4 * std::numeric_limits<double>::epsilon() * largest;
  if (sd > rounding) {
    out.effect = *out.difference / sd;
    out.p = t_two_sided_p(*out.effect * std::sqrt(out.n), out.n - 1);
  } else {
    out.p = std::abs(*out.difference) <= rounding ? 1.0 : 0.0;  // the limits of t = mean / 0
  }
  return out;
}

Interval bootstrap_interval(std::span<double const> values, double confidence, int resamples, std::uint64_t seed) {
  expect_confidence(confidence);
  expect(values.size() >= 2, "statistics: a bootstrap needs 2 values, found ", values.size());
  expect(resamples >= 1, "statistics: ", resamples, " resamples, expected at least 1");
  Stream const stream(seed, "report/bootstrap");
  std::size_t const n = values.size();
  std::vector<double> means(static_cast<std::size_t>(resamples));
  for (std::size_t r = 0; r < means.size(); ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k)
      sum += values[static_cast<std::size_t>(stream.below(static_cast<std::int64_t>(n), k, r))];
    means[r] = sum / static_cast<double>(n);
  }
  std::sort(means.begin(), means.end());
  return {sorted_quantile(means, 0.5 - 0.5 * confidence), sorted_quantile(means, 0.5 + 0.5 * confidence)};
}

std::vector<double> holm(std::span<double const> p) {
  for (double const each : p)
    expect(each >= 0 && each <= 1, "statistics: a p-value is ", each, ", expected inside [0, 1]");
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double running = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    running = std::max(running, std::min(1.0, p[order[rank]] * static_cast<double>(p.size() - rank)));
    adjusted[order[rank]] = running;
  }
  return adjusted;
}

}  // namespace sextant::statistics
