#include <sextant/base/error.hpp>
#include <sextant/report/json.hpp>
#include <sextant/report/reach.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
std::vector<std::int64_t> lengths_from(std::vector<std::int64_t> all, std::int64_t trained) {
  std::erase_if(all, [&](std::int64_t length) { return length < trained; });
  return all;
}

void summarise(Reach& reach) {
  std::vector<double> lengths;
  for (auto const& each : reach.seeds) {
    lengths.push_back(each.length);
    reach.at_least = reach.at_least || each.open;
  }
  auto const found = geometric_mean(lengths);
  reach.length = *found.mean;
  reach.interval = found.interval;
}

std::string tokens(double length) { return grouped(std::llround(length)); }

std::string interval_text(Reach const& reach, std::int64_t trained) {
  if (!reach.interval) return std::string(missing);
  double const low = std::max(reach.interval->low, static_cast<double>(trained));
  return reach.at_least ? cat({"from ", tokens(low)}) : cat({tokens(low), " to ", tokens(reach.interval->high)});
}
}  // namespace

std::optional<Quantity> reach_quantity(StudyView const& study) {
  if (!study.trained_length) return std::nullopt;
  std::optional<Quantity> out;
  for (auto const& q : quantities_of(study)) {
    if (q.metric != "loss" || study.is_control(q.probe) || (q.region != "mean" && q.region != "tail64")) continue;
    auto const lengths = lengths_from(lengths_of(study, q), *study.trained_length);
    if (lengths.size() < 2 || lengths.front() != *study.trained_length) continue;
    if (!out || (q.probe == out->probe && q.region == "tail64")) out = q;
  }
  return out;
}

SeedReach reach_of(std::vector<std::int64_t> const& lengths, std::vector<double> const& excess, double allowance) {
  expect(!lengths.empty() && lengths.size() == excess.size() && excess.front() == 0, "reach: ", lengths.size(),
         " lengths and ", excess.size(), " rises, the first of which is 0, were expected to go together");
  for (std::size_t k = 1; k < lengths.size(); ++k) {
    if (excess[k] <= allowance) continue;
    double const before = std::log2(lengths[k - 1]), after = std::log2(lengths[k]);
    double const share = std::isfinite(excess[k]) ? (allowance - excess[k - 1]) / (excess[k] - excess[k - 1]) : 0;
    return {0, std::exp2(before + share * (after - before)), false};
  }
  return {0, static_cast<double>(lengths.back()), true};
}

std::vector<Reach> reaches_of(StudyView const& study, double allowance) {
  auto const quantity = reach_quantity(study);
  if (!quantity) return {};
  auto const comparison = compare(study, options_of(*quantity));
  std::size_t const first = *comparison.column_of(*study.trained_length);
  std::vector<Reach> out;
  for (auto const& row : comparison.rows) {
    Reach reach{.arm = row.arm};
    for (auto const seed : row.cells[first].seeds) {
      double const trained = *value_of(row.cells[first], seed);
      std::vector<std::int64_t> lengths;
      std::vector<double> excess;
      for (std::size_t k = first; k < row.cells.size(); ++k)
        if (auto const value = value_of(row.cells[k], seed)) {
          lengths.push_back(comparison.lengths[k]);
          excess.push_back(*value - trained);
        }
      if (!std::isfinite(trained) || lengths.size() < 2) continue;
      reach.seeds.push_back(reach_of(lengths, excess, allowance));
      reach.seeds.back().seed = seed;
    }
    if (reach.seeds.empty()) continue;
    summarise(reach);
    out.push_back(std::move(reach));
  }
  return out;
}

Table reach_table(StudyView const& study) {
  Table table;
  auto const reaches = reaches_of(study);
  if (reaches.empty()) return table;
  auto const quantity = *reach_quantity(study);
  std::string const allowed = cat({fixed(reach_allowance, 2), " ", units_of(study, quantity)});
  table.title = cat({"Effective length [token]: as far as ", quantity.probe, ", ", quantity.region,
                     " loss, stays within ", allowed, " of the same arm's at ", grouped(*study.trained_length)});
  table.columns = {{"encoding", Align::left}, {"effective length"}, {"95 % interval"}, {"seeds"}};
  bool open = false;
  for (auto const& reach : reaches) {
    open = open || reach.at_least;
    table.rows.push_back({{reach.arm.label()},
                          {cat({reach.at_least ? "≥ " : "", tokens(reach.length)})},
                          {interval_text(reach, *study.trained_length)},
                          {std::to_string(reach.seeds.size())}});
  }
  table.notes = {
      "Between two measured lengths the loss is taken to rise linearly in the logarithm of the length; geometric mean "
      "and Student-t interval over seeds. An arm that gains nothing from far text may reach far too: hold its loss "
      "against "
      "the window control."};
  if (open)
    table.notes.emplace_back("≥: within the allowance up to the longest length that was measured, in some seed.");
  return table;
}

std::string reach_json(StudyView const& study) {
  using nlohmann::json;
  json arms = json::array();
  for (auto const& reach : reaches_of(study)) {
    json seeds = json::array();
    for (auto const& each : reach.seeds)
      seeds.push_back({{"seed", each.seed}, {"length", each.length}, {"open", each.open}});
    arms.push_back({{"arm", clean_utf8(reach.arm.label())},
                    {"length", reach.length},
                    {"at_least", reach.at_least},
                    {"interval", interval_or_null(reach.interval)},
                    {"seeds", std::move(seeds)}});
  }
  auto const quantity = reach_quantity(study);
  return json{{"allowance", reach_allowance},
              {"units", quantity ? json(units_of(study, *quantity)) : json()},
              {"probe", quantity ? json(quantity->probe) : json()},
              {"region", quantity ? json(quantity->region) : json()},
              {"arms", std::move(arms)}}
             .dump(2) +
         "\n";
}

}  // namespace sextant::report
