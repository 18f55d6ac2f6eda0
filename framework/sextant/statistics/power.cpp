#include <sextant/base/error.hpp>
#include <sextant/statistics/power.hpp>
#include <sextant/statistics/sample.hpp>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>

namespace sextant::statistics {
namespace {
namespace bm = boost::math;

void expect_test(double error, double dof, double alpha) {
  expect(error > 0 && std::isfinite(error), "statistics: the standard error is ", error, ", expected > 0");
  expect(dof > 0, "statistics: degrees of freedom are ", dof, ", expected > 0");
  expect(alpha > 0 && alpha < 0.5, "statistics: the level of a test is ", alpha, ", expected inside (0, 0.5)");
}
}  // namespace

double power_beyond(double excess, double error, double dof, double alpha) {
  expect_test(error, dof, alpha);
  double const noncentrality = excess / error, critical = t_quantile(1 - alpha, dof);
  if (std::abs(noncentrality) > 1e3) return noncentrality > 0 ? 1 : 0;
  return bm::cdf(bm::complement(bm::non_central_t_distribution<double>(dof, noncentrality), critical));
}

// The estimate falls within margin - t s of 0, where s = error sqrt(chi^2 / dof) is independent of it: an integral over
// the quantiles u of chi^2.
double power_within(double effect, double margin, double error, double dof, double alpha) {
  expect_test(error, dof, alpha);
  expect(margin > 0, "statistics: the margin is ", margin, ", expected > 0");
  double const critical = t_quantile(1 - alpha, dof);
  bm::chi_squared_distribution<double> const chi(dof);
  bm::normal_distribution<double> const normal;
  // No room is left from this quantile on.
  double const most = bm::cdf(chi, dof * std::pow(margin / (critical * error), 2));
  auto const given = [&](double u) {
    double const room = margin - critical * error * std::sqrt(bm::quantile(chi, u) / dof);
    if (room <= 0) return 0.0;
    return bm::cdf(normal, (room - effect) / error) - bm::cdf(normal, (-room - effect) / error);
  };
  if (most <= 0) return 0;
  return bm::quadrature::gauss_kronrod<double, 31>::integrate(given, 0.0, most, 8, 1e-9);
}

double Spread::error(int seeds) const { return std::sqrt(seed_sd * seed_sd / seeds + windows_variance); }

double Spread::dof(int seeds) const {
  double const by_seed = seed_sd * seed_sd / seeds, total = by_seed + windows_variance;
  double const below =
      by_seed * by_seed / (seeds - 1) + (windows > 1 ? windows_variance * windows_variance / (windows - 1) : 0.0);
  return below > 0 ? total * total / below : seeds - 1;
}

std::optional<int> seeds_needed(Spread const& spread, std::function<double(double error, double dof)> const& power,
                                double wanted, int most) {
  expect(wanted > 0 && wanted < 1, "statistics: the power wanted is ", wanted, ", expected inside (0, 1)");
  for (int n = 2; n <= most; ++n)
    if (spread.error(n) == 0 || power(spread.error(n), spread.dof(n)) >= wanted) return n;
  return {};
}

}  // namespace sextant::statistics
