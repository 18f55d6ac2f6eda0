#include <sextant/report/json.hpp>
#include <sextant/report/learning.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sextant::report {
namespace {
constexpr double bins = 40;

/// Curves that fall, of an arm, by seed.
using Curves = std::map<std::int64_t, BinnedLoss>;

/// Of its runs that had these lessons.
Curves curves_of(StudyView const& study, Arm const& arm, std::string const& lessons, double first, double width) {
  Curves out;
  for (auto const* run : runs_of(study, arm)) {
    if (run->train.step.empty() || run->lessons != lessons) continue;
    BinnedLoss curve = binned(run->train, first, width);
    curve.loss = falling_fit(curve.loss);
    if (curve.step.size() > 1) out[run->seed] = std::move(curve);
  }
  return out;
}

std::pair<double, double> steps_of(StudyView const& study) {
  double first = std::numeric_limits<double>::infinity(), last = -first;
  for (auto const& run : study.runs)
    for (double const step : run.train.step) first = std::min(first, step), last = std::max(last, step);
  return {first, last};
}

LearningCell learning_cell(Curves const& arm, Curves const& baseline, double share) {
  LearningCell cell;
  std::vector<double> ratios;
  for (auto const& [seed, base] : baseline) {
    auto const own = arm.find(seed);
    if (own == arm.end()) continue;
    auto const at = static_cast<std::size_t>(std::lround(share * static_cast<double>(base.step.size() - 1)));
    double const loss = base.loss[at];
    double const steps = *step_at(base, loss);
    cell.baseline_steps += steps;
    cell.loss += loss;
    ++cell.seeds;
    if (auto const taken = step_at(own->second, loss))
      ratios.push_back(*taken / steps);
    else
      ++cell.never;
  }
  if (cell.seeds > 0) cell.baseline_steps /= cell.seeds, cell.loss /= cell.seeds;
  auto const found = geometric_mean(ratios);
  cell.ratio = found.mean;
  cell.interval = found.interval;
  return cell;
}

std::string percent(double ratio) { return cat({with_sign(100 * (ratio - 1), 0), " %"}); }

std::string cell_text(LearningCell const& cell) {
  if (cell.seeds == 0) return std::string(missing);
  if (!cell.ratio) return "never";
  std::string out = percent(*cell.ratio);
  if (cell.interval)
    out += cat({" (", with_sign(100 * (cell.interval->low - 1), 0), " to ", percent(cell.interval->high), ")"});
  if (cell.never > 0) out += cat({", never in ", std::to_string(cell.never), " of ", std::to_string(cell.seeds)});
  return out;
}
}  // namespace

BinnedLoss binned(TrainCurve const& curve, double first, double width) {
  std::map<std::size_t, std::pair<double, int>> sums;
  for (std::size_t k = 0; k < curve.step.size() && k < curve.loss.size(); ++k) {
    if (!std::isfinite(curve.loss[k])) continue;
    auto& [sum, count] = sums[static_cast<std::size_t>((curve.step[k] - first) / width)];
    sum += curve.loss[k];
    ++count;
  }
  BinnedLoss out;
  for (auto const& [bin, entry] : sums) {
    out.step.push_back(first - 0.5 + width * (static_cast<double>(bin) + 0.5));
    out.loss.push_back(entry.first / entry.second);
  }
  return out;
}

std::vector<double> falling_fit(std::vector<double> const& values) {
  struct Block {
    double mean;
    std::size_t count;
  };
  std::vector<Block> blocks;
  for (double const value : values) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean < blocks.back().mean) {
      Block const last = blocks.back();
      blocks.pop_back();
      Block& into = blocks.back();
      double const count = static_cast<double>(into.count + last.count);
      into.mean = (into.mean * static_cast<double>(into.count) + last.mean * static_cast<double>(last.count)) / count;
      into.count += last.count;
    }
  }
  std::vector<double> out;
  for (auto const& block : blocks) out.insert(out.end(), block.count, block.mean);
  return out;
}

std::optional<double> step_at(BinnedLoss const& falling, double loss) {
  for (std::size_t k = 0; k < falling.loss.size(); ++k) {
    if (falling.loss[k] > loss) continue;
    if (k == 0 || falling.loss[k - 1] == falling.loss[k]) return falling.step[k];
    double const share = (falling.loss[k - 1] - loss) / (falling.loss[k - 1] - falling.loss[k]);
    return falling.step[k - 1] + share * (falling.step[k] - falling.step[k - 1]);
  }
  return std::nullopt;
}

std::vector<LearningRow> learning_of(StudyView const& study, std::string const& baseline) {
  auto const [first, last] = steps_of(study);
  std::vector<LearningRow> out;
  if (!(first < last)) return out;
  double const width = std::max(1.0, std::ceil((last - first + 1) / bins));
  std::string lessons;
  for (auto const& run : study.runs)
    if (Arm{run.encoding, run.scaling}.label() == baseline) lessons = run.lessons;
  auto const curves = [&, first = first](Arm const& arm) { return curves_of(study, arm, lessons, first, width); };
  Curves base;
  for (auto const& arm : arms_of(study))
    if (arm.label() == baseline) base = curves(arm);
  if (base.empty()) return out;
  for (auto const& arm : arms_of(study)) {
    auto const own = curves(arm);
    if (own.empty() || arm.label() == baseline) continue;
    LearningRow row{arm, {}};
    for (double const share : learning_shares) row.cells.push_back(learning_cell(own, base, share));
    out.push_back(std::move(row));
  }
  return out;
}

Table learning_table(StudyView const& study, std::string const& baseline) {
  Table table;
  auto const rows = learning_of(study, baseline);
  if (rows.empty()) return table;
  table.title =
      cat({"Learning speed: steps that an arm takes to the training loss that ", baseline, " has after so many"});
  table.columns.push_back({"encoding", Align::left});
  for (auto const& cell : rows.front().cells)
    table.columns.push_back({cat({fixed(cell.baseline_steps, 0), " steps, loss ", fixed(cell.loss, 2)})});
  for (auto const& row : rows) {
    std::vector<TableCell> cells{{row.arm.label()}};
    for (auto const& cell : row.cells) cells.push_back({cell_text(cell), Mark::none, cell.seeds == 0});
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "More steps than the baseline: +. Losses are means over a fortieth of the steps, made to fall by isotonic "
      "regression, and compared seed by seed: equal seeds read the same batches. Geometric mean and Student-t interval "
      "over seeds."};
  return table;
}

std::string learning_json(StudyView const& study, std::string const& baseline) {
  using nlohmann::json;
  json arms = json::array();
  for (auto const& row : learning_of(study, baseline)) {
    json cells = json::array();
    for (auto const& cell : row.cells)
      cells.push_back({{"baseline_steps", cell.baseline_steps},
                       {"loss", cell.loss},
                       {"seeds", cell.seeds},
                       {"never", cell.never},
                       {"ratio", number_or_null(cell.ratio)},
                       {"interval", interval_or_null(cell.interval)}});
    arms.push_back({{"arm", clean_utf8(row.arm.label())}, {"after", std::move(cells)}});
  }
  return json{{"baseline", clean_utf8(baseline)}, {"arms", std::move(arms)}}.dump(2) + "\n";
}

}  // namespace sextant::report
