// How likely a test is to decide, before it is run.
#pragma once
#include <functional>
#include <optional>

namespace sextant::statistics {

/// Chance that a one-sided t-test at level `alpha` finds an effect beyond its bound, when it truly lies `excess` beyond.
/// `error` is the true standard error of the estimate. Throws Error for an error <= 0 or an alpha outside (0, 0.5).
double power_beyond(double excess, double error, double dof, double alpha);

/// Chance that two one-sided t-tests at level `alpha` find |effect| < margin when the true effect is `effect`.
double power_within(double effect, double margin, double error, double dof, double alpha);

/// Where the error of an effect comes from: sd^2 / seeds + windows_variance.
struct Spread {
  double seed_sd = 0;           ///< between seeds
  double windows_variance = 0;  ///< of the mean over windows; more seeds do not lessen it
  int windows = 0;
  double error(int seeds) const;
  /// Welch and Satterthwaite's.
  double dof(int seeds) const;
};

/// The least number of seeds, from 2 on, at which `power(error, dof)` reaches `wanted`; empty when `most` do not.
std::optional<int> seeds_needed(Spread const& spread, std::function<double(double error, double dof)> const& power,
                                double wanted = 0.8, int most = 1000);

}  // namespace sextant::statistics
