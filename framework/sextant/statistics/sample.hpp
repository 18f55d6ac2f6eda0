// What may be said about numbers that differ between seeds: means, intervals, paired differences, corrections.
//
// A quantity that does not exist (the spread of one seed, the p of nothing) is an empty optional, never NaN and never 0:
// a renderer then has to write that it is missing.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sextant::statistics {

struct Interval {
  double low = 0, high = 0;
  double half() const { return 0.5 * (high - low); }
  bool contains(double x) const { return low <= x && x <= high; }
};

inline std::optional<double> low_of(std::optional<Interval> const& interval) {
  return interval ? std::optional(interval->low) : std::nullopt;
}
inline std::optional<double> high_of(std::optional<Interval> const& interval) {
  return interval ? std::optional(interval->high) : std::nullopt;
}

/// Arithmetic mean. Throws Error on an empty sample.
double mean(std::span<double const> values);

/// Square root of the sum of squared deviations over n - 1. Throws Error when n < 2.
double sample_sd(std::span<double const> values);

/// Student's t: the value below which a share `probability` (inside (0, 1)) lies at `dof` > 0 degrees of freedom.
double t_quantile(double probability, double dof);

/// Chance that |T| >= |t| at `dof` > 0 degrees of freedom; t may be infinite.
double t_two_sided_p(double t, double dof);

/// Linear interpolation between order statistics: quantile q of n ascending values sits at index q (n - 1).
double sorted_quantile(std::span<double const> sorted, double q);

/// How an interval is formed.
enum class Method {
  student_t,  ///< mean +- t(n - 1) sd / sqrt(n): right for few seeds when seeds scatter about normally
  bootstrap,  ///< percentiles of resampled means: no shape assumed, too narrow below about ten seeds
};

/// One sample over seeds. `not_finite` counts NaN and infinite values, which take no part in the rest.
struct Summary {
  int n = 0;
  int not_finite = 0;
  std::optional<double> mean;        ///< empty when n = 0
  std::optional<double> sd;          ///< empty when n < 2
  std::optional<Interval> interval;  ///< of the mean; empty when n < 2
};
Summary summarize(std::span<double const> values, double confidence = 0.95, Method method = Method::student_t);

/// value - baseline, seed by seed. Both spans have one entry a seed, in the same order; a pair with a value that is
/// not finite is left out. Throws Error when the lengths differ.
///
/// Differences that scatter by no more than 4 eps of the largest |value|, eps = 2^-52, are one amount: a value is off its number by half
/// an eps of it, so that equal differences of two values come out up to 2 eps apart from theirs, and their sd within 3.
struct Paired {
  int n = 0;                         ///< pairs used
  std::optional<double> difference;  ///< mean of the differences; empty when n = 0
  std::optional<Interval> interval;  ///< of the mean difference; empty when n < 2
  std::optional<double> p;       ///< two-sided, of no difference; empty when n < 2. One amount: 1 if it is 0, else 0
  std::optional<double> effect;  ///< mean / sd of the differences (d_z); empty when n < 2 or they are one amount
};
Paired paired(std::span<double const> value, std::span<double const> baseline, double confidence = 0.95,
              Method method = Method::student_t);

/// Percentile interval of the mean from `resamples` draws with replacement. Draw k of resample r is a function of
/// (seed, r, k) alone, so the same input gives the same bits everywhere. Throws Error when n < 2.
Interval bootstrap_interval(std::span<double const> values, double confidence = 0.95, int resamples = 4000,
                            std::uint64_t seed = 0);

/// Holm's step-down adjustment, in the order given: rejecting p_adjusted <= a keeps the chance of any false rejection
/// in the whole list at most a, whatever the dependence.
std::vector<double> holm(std::span<double const> p);

}  // namespace sextant::statistics
