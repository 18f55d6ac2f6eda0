#include <sextant/results/table.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::results {
namespace {
template <class T>
std::vector<T> column(ResultTable const& table, T ResultRow::*field) {
  std::vector<T> out;
  out.reserve(table.size());
  for (ResultRow const& row : table) out.push_back(row.*field);
  return out;
}

template <class T>
void read(Group const& from, std::string const& name, T ResultRow::*field, ResultTable& into) {
  auto const& values = from.values<T>(name, Shape{into.size()});
  for (std::size_t i = 0; i < into.size(); ++i) into[i].*field = values[i];
}
}  // namespace

std::string arm_label(std::string const& encoding, std::string const& scaling) {
  return scaling.empty() || scaling == "none" ? encoding : encoding + " · " + scaling;
}

Group columns(ResultTable const& table) {
  Group out;
  auto const text = [&](char const* name, std::string ResultRow::*field, char const* what) {
    out.put(name, column(table, field), what);
  };
  auto const number = [&](char const* name, double ResultRow::*field, char const* what, char const* why_nan) {
    Array& array = out.put(name, column(table, field), "see column units", what);
    if (std::any_of(table.begin(), table.end(), [&](ResultRow const& row) { return std::isnan(row.*field); }))
      array.reason(why_nan);
  };
  text("study", &ResultRow::study, "study");
  text("run", &ResultRow::run, "id of the run under runs/");
  out.put("seed", column(table, &ResultRow::seed), "1", "seed of the run");
  text("encoding", &ResultRow::encoding, "encoding that was trained");
  text("scaling", &ResultRow::scaling, "scaling that was applied to it");
  text("probe", &ResultRow::probe, "what was measured");
  out.put("length", column(table, &ResultRow::length), "token", "tokens in the window");
  text("region", &ResultRow::region, "part of the window");
  text("metric", &ResultRow::metric, "quantity");
  number("value", &ResultRow::value, "value of the metric", "the measurement gave no number");
  number("stderr", &ResultRow::error, "standard error within the run", "not known for this measurement");
  out.put("n", column(table, &ResultRow::n), "1", "how many values the mean is over");
  text("units", &ResultRow::units, "units of value and stderr");
  return out;
}

ResultTable table(Group const& columns) {
  ResultTable out(columns.texts("run").size());
  read(columns, "study", &ResultRow::study, out);
  read(columns, "run", &ResultRow::run, out);
  read(columns, "seed", &ResultRow::seed, out);
  read(columns, "encoding", &ResultRow::encoding, out);
  read(columns, "scaling", &ResultRow::scaling, out);
  read(columns, "probe", &ResultRow::probe, out);
  read(columns, "length", &ResultRow::length, out);
  read(columns, "region", &ResultRow::region, out);
  read(columns, "metric", &ResultRow::metric, out);
  read(columns, "value", &ResultRow::value, out);
  read(columns, "stderr", &ResultRow::error, out);
  read(columns, "n", &ResultRow::n, out);
  read(columns, "units", &ResultRow::units, out);
  return out;
}

}  // namespace sextant::results
