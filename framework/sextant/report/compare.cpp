#include <sextant/base/error.hpp>
#include <sextant/report/compare.hpp>
#include <sextant/report/rivals.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace sextant::report {
namespace {

std::string where(StudyView const& study) { return study.file.empty() ? study.name : study.file; }

Quantity chosen(StudyView const& study, CompareOptions const& options) {
  Quantity out = main_quantity(study);
  auto const all = quantities_of(study);
  auto const pick = [&](std::string Quantity::*part, std::string const& wanted, char const* what) {
    if (wanted.empty()) return;
    std::vector<std::string> known;
    for (auto const& q : all)
      if (std::find(known.begin(), known.end(), q.*part) == known.end()) known.push_back(q.*part);
    expect(std::find(known.begin(), known.end(), wanted) != known.end(), where(study), ": no ", what, " \"", wanted,
           "\" in summary/results", did_you_mean(wanted, known));
    out.*part = wanted;
  };
  pick(&Quantity::probe, options.probe, "probe");
  pick(&Quantity::region, options.region, "region");
  pick(&Quantity::metric, options.metric, "metric");
  if (std::find(all.begin(), all.end(), out) != all.end()) return out;
  // The probe was asked for and measures something else: take its first quantity that keeps what was said.
  for (auto const& q : all)
    if (q.probe == out.probe && (options.region.empty() || q.region == out.region) &&
        (options.metric.empty() || q.metric == out.metric))
      return q;
  fail(where(study), ": no rows for probe ", out.probe, ", region ", out.region, ", metric ", out.metric);
}

std::vector<Arm> wanted_arms(StudyView const& study, By by) {
  auto arms = arms_of(study);
  if (by == By::encoding) std::erase_if(arms, [](Arm const& arm) { return arm.scaled(); });
  if (by == By::scaling) {
    std::set<std::string> scaled;
    for (auto const& arm : arms)
      if (arm.scaled()) scaled.insert(arm.encoding);
    std::erase_if(arms, [&](Arm const& arm) { return !scaled.contains(arm.encoding); });
  }
  return arms;
}

Cell cell_of(StudyView const& study, Arm const& arm, Quantity const& quantity, std::int64_t length,
             CompareOptions const& options) {
  std::map<std::int64_t, double> by_seed;
  for (auto const& row : study.rows) {
    if (row.length != length || row.probe != quantity.probe || row.region != quantity.region ||
        row.metric != quantity.metric || !(Arm{row.encoding, row.scaling} == arm))
      continue;
    auto const [at, fresh] = by_seed.emplace(row.seed, row.value);
    expect(fresh || at->second == row.value || (std::isnan(at->second) && std::isnan(row.value)), where(study),
           ": two values for arm ", arm.label(), ", seed ", row.seed, ", ", quantity.probe, " @ ", length, ": ",
           at->second, " and ", row.value, " (run ", row.run, "); give the arms different labels");
  }
  Cell cell;
  for (auto const& [seed, value] : by_seed) {
    cell.seeds.push_back(seed);
    cell.values.push_back(value);
  }
  cell.summary = statistics::summarize(cell.values, options.confidence, options.method);
  return cell;
}

/// Of rows that are ranked against each other.
void mark_column(Comparison& out, std::vector<std::size_t> const& rows, std::size_t column,
                 CompareOptions const& options) {
  Cell* best = nullptr;
  int measured = 0;
  for (auto const row : rows) {
    Cell& cell = out.rows[row].cells[column];
    measured += !cell.seeds.empty();
    if (!cell.complete) continue;
    bool const better = best && (out.lower_is_better ? *cell.summary.mean < *best->summary.mean
                                                     : *cell.summary.mean > *best->summary.mean);
    if (!best || better) best = &cell;
  }
  if (!best || measured < 2) return;
  best->mark = Mark::best;
  for (auto const row : rows) {
    Cell& cell = out.rows[row].cells[column];
    if (&cell == best || !cell.complete) continue;
    auto const difference = paired_cells(cell, *best, options.confidence, options.method);
    bool const equal = *cell.summary.mean == *best->summary.mean || difference.p == 1;  // up to rounding
    if (equal || (difference.interval && difference.interval->contains(0))) cell.mark = Mark::tied;
  }
}

// The row that `row` is compared with: in its own study when that has it, else in the first study that does; a rival of it.
ComparisonRow const* baseline_of(Comparison const& out, ComparisonRow const& row, CompareOptions const& options) {
  ComparisonRow const* found = nullptr;
  for (auto const& other : out.rows) {
    bool const hit = options.by == By::scaling
                         ? other.study == row.study && other.arm.encoding == row.arm.encoding && !other.arm.scaled()
                         : other.arm.label() == options.baseline || other.label == options.baseline;
    if (hit && (!found || (other.study == row.study && found->study != row.study))) found = &other;
  }
  return found ? counterpart(out, *found, row) : nullptr;
}

void compare_with_baseline(Comparison& out, CompareOptions const& options) {
  if (options.baseline.empty() && options.by != By::scaling) return;
  if (options.by != By::scaling) {
    std::vector<std::string> known;
    for (auto const& row : out.rows) known.push_back(row.label);
    for (auto const& row : out.rows) known.push_back(row.arm.label());
    expect(std::find(known.begin(), known.end(), options.baseline) != known.end(), "compare: no arm \"",
           options.baseline, "\" to be the baseline", did_you_mean(options.baseline, known));
  }
  std::vector<double> p;
  std::vector<Cell*> tested;
  for (auto& row : out.rows) {
    auto const* const base = baseline_of(out, row, options);
    row.is_baseline = base == &row;
    if (!base || row.is_baseline) continue;
    row.baseline = base->label;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      Cell& cell = row.cells[i];
      cell.versus = paired_cells(cell, base->cells[i], options.confidence, options.method);
      if (!cell.versus.p) continue;
      p.push_back(*cell.versus.p);
      tested.push_back(&cell);
    }
  }
  auto const adjusted = statistics::holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->p_adjusted = adjusted[i];
  out.tests = static_cast<int>(p.size());
}

std::string asked_of(StudyView const& study, Arm const& arm) {
  for (auto const& run : study.runs)
    if (run.encoding == arm.encoding && !run.asked.empty()) return run.asked;
  return "";
}

std::vector<std::string> failures_of(StudyView const& study, Arm const& arm) {
  std::vector<std::string> out;
  for (auto const* run : runs_of(study, arm))
    if (run->status == "failed") out.push_back(run->message.empty() ? "failed without a message" : run->message);
  return out;
}

// Study names, told apart by their files when two are the same.
std::vector<std::string> names_of(std::span<StudyView const> studies) {
  std::vector<std::string> names;
  for (auto const& study : studies) {
    bool const unique = std::count_if(studies.begin(), studies.end(),
                                      [&](StudyView const& other) { return other.name == study.name; }) == 1;
    names.push_back(unique && !study.name.empty() ? study.name : where(study));
  }
  return names;
}
}  // namespace

By by_from(std::string const& name) {
  if (name == "arm") return By::arm;
  if (name == "encoding") return By::encoding;
  if (name == "scaling") return By::scaling;
  fail("compare: cannot group by \"", name, "\"", did_you_mean(name, {"arm", "encoding", "scaling"}));
}

CompareOptions options_of(Quantity const& quantity) {
  return {.probe = quantity.probe, .region = quantity.region, .metric = quantity.metric};
}

std::optional<double> value_of(Cell const& cell, std::int64_t seed) {
  auto const at = std::find(cell.seeds.begin(), cell.seeds.end(), seed);
  return at == cell.seeds.end() ? std::nullopt : std::optional(cell.values[std::size_t(at - cell.seeds.begin())]);
}

Paired paired_cells(Cell const& a, Cell const& b, double confidence, Method method) {
  std::vector<double> left, right;
  for (std::size_t i = 0; i < a.seeds.size(); ++i)
    if (auto const other = value_of(b, a.seeds[i])) left.push_back(a.values[i]), right.push_back(*other);
  return statistics::paired(left, right, confidence, method);
}

std::optional<std::size_t> Comparison::column_of(std::int64_t length) const {
  auto const at = std::find(lengths.begin(), lengths.end(), length);
  return at == lengths.end() ? std::nullopt : std::optional(std::size_t(at - lengths.begin()));
}

GeometricMean geometric_mean(std::span<double const> values) {
  std::vector<double> logs;
  for (double const value : values) logs.push_back(std::log(value));
  auto const found = statistics::summarize(logs);
  GeometricMean out;
  if (found.mean) out.mean = std::exp(*found.mean);
  if (found.interval) out.interval = Interval{std::exp(found.interval->low), std::exp(found.interval->high)};
  return out;
}

Comparison compare(std::span<StudyView const> studies, CompareOptions const& options) {
  expect(!studies.empty(), "compare: no study was given");
  Comparison out;
  out.quantity = chosen(studies[0], options);
  out.units = units_of(studies[0], out.quantity);
  out.lower_is_better = lower_is_better(out.quantity.metric);
  out.confidence = options.confidence;
  out.method = options.method;
  out.trained_length = studies[0].trained_length;
  out.studies = names_of(studies);
  std::set<std::int64_t> lengths, seeds;
  for (auto const& study : studies) {
    auto const units = units_of(study, out.quantity);
    expect(units.empty() || units == out.units, where(study), ": ", out.quantity.probe, " is in ", units, ", expected ",
           out.units, " as in ", where(studies[0]));
    for (auto const length : lengths_of(study, out.quantity)) lengths.insert(length);
    for (auto const seed : seeds_of(study)) seeds.insert(seed);
    if (study.trained_length != out.trained_length) out.trained_length.reset();
  }
  out.lengths.assign(lengths.begin(), lengths.end());
  out.seeds.assign(seeds.begin(), seeds.end());
  for (std::size_t s = 0; s < studies.size(); ++s) {
    std::size_t const all_seeds = seeds_of(studies[s]).size();
    for (auto const& arm : wanted_arms(studies[s], options.by)) {
      ComparisonRow row;
      row.label = studies.size() > 1 ? out.studies[s] + ": " + arm.label() : arm.label();
      row.arm = arm;
      row.study = s;
      row.asked = asked_of(studies[s], arm);
      row.failed = failures_of(studies[s], arm);
      for (auto const length : out.lengths) {
        Cell cell = cell_of(studies[s], arm, out.quantity, length, options);
        cell.complete = cell.seeds.size() == all_seeds && cell.summary.not_finite == 0 && cell.summary.n > 0;
        row.cells.push_back(std::move(cell));
      }
      out.rows.push_back(std::move(row));
    }
  }
  expect(options.by == By::arm || !out.rows.empty(), where(studies[0]), ": no arm ",
         options.by == By::scaling ? "was scaled" : "is without a scaling", ", expected --by arm for such a study");
  find_rivals(out);
  for (auto const& rivals : out.rivals)
    for (std::size_t column = 0; column < out.lengths.size(); ++column) mark_column(out, rivals.rows, column, options);
  compare_with_baseline(out, options);
  return out;
}

Comparison compare(StudyView const& study, CompareOptions const& options) {
  return compare(std::span<StudyView const>(&study, 1), options);
}

std::string default_baseline(StudyView const& study) {
  auto const arms = arms_of(study);
  for (auto const& wanted : {study.baseline, std::string("rope")})
    for (auto const& arm : arms)
      if (arm.label() == wanted) return wanted;
  return arms.empty() ? "" : arms.front().label();
}

}  // namespace sextant::report
