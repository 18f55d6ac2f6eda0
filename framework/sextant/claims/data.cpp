#include <sextant/claims/data.hpp>
#include <sextant/results/table.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sextant::claims {
namespace {
using results::Group;

/// One quantity under one seed: window id -> value. With one value a seed, under the id 0.
using Values = std::map<std::int64_t, double>;

struct Series {
  std::map<std::int64_t, Values> by_seed;
  std::string units, missing;
};

std::string label(Measured const& quantity, char const* dimension) {
  for (auto const& where : quantity.where)
    if (where.dimension.text == dimension) return where.label.text;
  return "";
}

// One value a seed, from the table of results.
Series from_table(Measured const& quantity, results::ResultTable const& rows) {
  Series out;
  for (auto const& row : rows) {
    bool const wanted = row.probe == quantity.probe.text && row.length == quantity.length &&
                        measure_name(row.region, row.metric) == quantity.measure.text &&
                        row.encoding == label(quantity, "encoding") && row.scaling == label(quantity, "scaling");
    if (!wanted) continue;
    out.by_seed[row.seed][0] = row.value;
    out.units = row.units;
  }
  return out;
}

// A value a window, from eval/<probe>/<measure>_by_window of the runs. `instead`: what else can be done where there is none.
Series from_windows(Measured const& quantity, Group const& runs, Series const& table, char const* instead) {
  Series out;
  out.units = table.units;
  std::string const name = quantity.measure.text + "_by_window";
  for (auto const& [id, run] : runs.groups) {
    if (run.attribute<std::string>("encoding", "") != label(quantity, "encoding") ||
        run.attribute<std::string>("scaling", "") != label(quantity, "scaling"))
      continue;
    Group const* const eval = run.find_group("eval/" + quantity.probe.text);
    if (!eval) continue;
    if (!eval->has_array(name) || !eval->has_array("window")) {
      out.missing = text("the study holds no ", name, " of ", quantity.probe.text,
                         ": it was measured before windows were kept; run it again", instead);
      continue;
    }
    auto const lengths = eval->integers("length"), windows = eval->integers("window");
    auto const& values = eval->values<double>(name, {lengths.size(), windows.size()});
    for (std::size_t i = 0; i < lengths.size(); ++i)
      for (std::size_t w = 0; lengths[i] == quantity.length && w < windows.size(); ++w)
        out.by_seed[run.attribute<std::int64_t>("seed")][windows[w]] = values[i * windows.size() + w];
  }
  return out;
}

template <class Map>
std::set<std::int64_t> keys_of(Map const& map) {
  std::set<std::int64_t> out;
  for (auto const& item : map) out.insert(item.first);
  return out;
}

void keep_shared(std::set<std::int64_t>& shared, std::set<std::int64_t> const& other) {
  std::erase_if(shared, [&](std::int64_t key) { return !other.contains(key); });
}

// The seeds, and then the windows, that all quantities have.
Data joined(std::vector<Series> const& series, Test const& test) {
  Data out;
  std::set<std::int64_t> seeds = keys_of(series[0].by_seed), windows;
  for (auto const& each : series) keep_shared(seeds, keys_of(each.by_seed));
  if (seeds.empty()) {
    out.missing = "the two sides share no seed";
    return out;
  }
  windows = keys_of(series[0].by_seed.begin()->second);
  for (auto const& each : series)
    for (auto const seed : seeds) keep_shared(windows, keys_of(each.by_seed.at(seed)));
  if (windows.empty()) {
    out.missing = "the two sides share no window of text: their measurements have other windows or another span";
    return out;
  }
  out.seeds.assign(seeds.begin(), seeds.end());
  out.panel.quantities = series.size();
  out.panel.seeds = seeds.size();
  out.panel.windows = windows.size();
  for (std::size_t q = 0; q < series.size(); ++q) {
    out.units.push_back(series[q].units);
    for (auto const seed : seeds)
      for (auto const window : windows) {
        double const value = series[q].by_seed.at(seed).at(window);
        if (!std::isfinite(value) && out.missing.empty())
          out.missing = text(write(test.measured[q]), " is not finite under seed ", seed);
        out.panel.values.push_back(value);
      }
  }
  return out;
}
}  // namespace

Data data_of(Test const& settled, By by, Sample sample, Group const& study) {
  bool const windows = by == By::paired_bootstrap || sample != Sample::seeds;
  char const* const instead = sample == Sample::seeds ? ", or test by paired_t" : "";
  auto const rows = results::table(study.group("summary/results"));
  std::vector<Series> series;
  for (auto const& quantity : settled.measured) {
    Series one = from_table(quantity, rows);
    if (one.by_seed.empty()) one.missing = write(quantity) + " has not been measured";
    if (one.missing.empty() && windows) one = from_windows(quantity, study.group("runs"), one, instead);
    if (one.by_seed.empty()) {
      Data none;
      none.missing = one.missing.empty() ? write(quantity) + " has no values by window" : one.missing;
      return none;
    }
    series.push_back(std::move(one));
  }
  return joined(series, settled);
}

}  // namespace sextant::claims
