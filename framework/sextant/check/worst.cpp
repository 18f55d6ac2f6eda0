#include <sextant/base/error.hpp>
#include <sextant/check/worst.hpp>

#include <algorithm>
#include <limits>

namespace sextant::check {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

double difference(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected))) return 0;
  double const apart = std::abs(found - expected);
  return std::isnan(apart) ? infinity : apart;
}
}  // namespace

void Worst::compare(std::string const& what, std::vector<double> const& found, std::vector<double> const& expected,
                    Tolerance const& tolerance, std::vector<char> const& weight) {
  expect(found.size() == expected.size(), what, ": computed ", found.size(), " numbers, the file has ",
         expected.size());
  double largest = 0;
  for (double x : expected)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!weight.empty() && !weight[i]) continue;
    double const size = std::isfinite(expected[i]) ? std::abs(expected[i]) : 0;
    double const bound = tolerance.absolute + tolerance.relative * size + tolerance.by_largest * largest;
    double const apart = difference(found[i], expected[i]);
    double const ratio = apart == 0 ? 0 : bound > 0 ? apart / bound : infinity;
    if (ratio <= ratio_) continue;
    // Relative tolerances are shown as such: error and bound per unit of the expected value.
    double const unit = tolerance.relative > 0 && tolerance.absolute == 0 && size > 0 ? size : 1;
    what_ = what;
    ratio_ = ratio;
    error_ = apart / unit;
    tolerance_ = bound / unit;
  }
}

void Worst::write(VerifyCase& out) const {
  expect(ratio_ >= 0, "holds nothing to compare with");
  out.what = what_;
  out.error = error_;
  out.tolerance = tolerance_;
  out.verdict = ratio_ <= 1 ? Verdict::pass : Verdict::fail;
}

}  // namespace sextant::check
