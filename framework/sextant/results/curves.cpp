// summary/curves: the plot that a viewer draws when a study file is opened.
#include <sextant/results/study.hpp>

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sextant::results {
namespace {
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Point {
  double mean = missing, half = missing;  // half of the interval's width
};

// Of the finite values, in the order given.
Point over_seeds(std::vector<double> const& all) {
  std::vector<double> values;
  std::copy_if(all.begin(), all.end(), std::back_inserter(values), [](double x) { return std::isfinite(x); });
  if (values.empty()) return {};
  double sum = 0, squares = 0;
  for (double const x : values) sum += x;
  double const n = static_cast<double>(values.size()), mean = sum / n;
  for (double const x : values) squares += (x - mean) * (x - mean);
  if (values.size() < 2) return {mean, missing};
  double const t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
  return {mean, t * std::sqrt(squares / (n - 1) / n)};
}

std::string label(ResultRow const& row) {
  std::string out = arm_label(row.encoding, row.scaling);
  std::replace(out.begin(), out.end(), '/', '|');  // a slash would split the name of the array
  return out;
}
}  // namespace

Group curves(ResultTable const& table, Quantity const& quantity) {
  Ordered<std::map<std::int64_t, std::vector<double>>> arms;  // in order of first appearance
  std::set<std::int64_t> lengths;
  std::string units = "1";
  for (ResultRow const& row : table) {
    if (Quantity{row.probe, row.region, row.metric} != quantity) continue;
    arms[label(row)][row.length].push_back(row.value);
    lengths.insert(row.length);
    units = row.units;
  }
  expect(!arms.empty(), "no measurement of ", quantity.probe, ' ', quantity.region, ' ', quantity.metric,
         " to draw curves of");

  Group out;
  out.put("length", std::vector<std::int64_t>(lengths.begin(), lengths.end()), "token", "tokens in the window");
  auto const line = [&](std::string const& name, std::vector<double> const& values, std::string const& what) {
    expect(!out.arrays.find(name), "two arms make a curve called ", name);
    Array& array = out.put(name, values, units, what);
    array.along({"length"});
    if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); }))
      array.reason("not measured at this length, or by too few seeds");
  };
  std::string const title = text(quantity.metric, " of ", quantity.probe, " (", quantity.region, ")");
  for (auto const& [arm, measured] : arms) {
    std::vector<double> mean, low, high, half;
    for (std::int64_t const length : lengths) {
      auto const at = measured.find(length);
      Point const point = at == measured.end() ? Point{} : over_seeds(at->second);
      mean.push_back(point.mean), half.push_back(point.half);
      low.push_back(point.mean - point.half), high.push_back(point.mean + point.half);
    }
    line(arm, mean, arm + ": " + title + ", mean over seeds");
    line(arm + "_low", low, arm + ": lower end of the 95 % interval over seeds");
    line(arm + "_high", high, arm + ": upper end of the 95 % interval over seeds");
    line(arm + "_errors", half, arm + ": half width of the 95 % interval over seeds");
  }
  auto const names = arms.names();
  out.plot(names.front(), {"length"}, {names.begin() + 1, names.end()});
  out.set("title", title).set("probe", quantity.probe).set("region", quantity.region).set("metric", quantity.metric);
  return out;
}

}  // namespace sextant::results
