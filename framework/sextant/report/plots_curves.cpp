// Plots of courses: training by step, loss by position, a search by evaluation and by pair.
#include <sextant/report/plot_parts.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::report {
namespace {
// Samples of one arm in bins, by seed; drawn as their means over the seeds with the interval.
class Bins {
 public:
  void add(std::size_t bin, std::int64_t seed, double value) {
    if (!std::isfinite(value)) {
      ++not_finite_;
      return;
    }
    auto& [sum, count] = bins_[bin][seed];
    sum += value;
    ++count;
  }
  /// Bin n is `width` wide and begins at first + n width.
  void draw(Chart& chart, Arm const& arm, Looks const& looks, double first, double width) const {
    note_gaps(chart, arm.label(), not_finite_);
    Line line{arm.label(), looks.of(arm), {}, false, false};
    for (auto const& [bin, by_seed] : bins_) {
      std::vector<double> values;
      for (auto const& entry : by_seed) values.push_back(entry.second.first / entry.second.second);
      line.points.push_back(point_of(first + width * (static_cast<double>(bin) + 0.5), statistics::summarize(values)));
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }

 private:
  std::map<std::size_t, std::map<std::int64_t, std::pair<double, int>>> bins_;
  int not_finite_ = 0;
};

// Training lines by label, in the order of arms_of. Arms differ in training only by their encoding.
std::vector<std::pair<Arm, std::vector<RunView const*>>> trained_arms(StudyView const& study) {
  std::vector<std::pair<Arm, std::vector<RunView const*>>> out;
  for (auto const& arm : arms_of(study)) {
    auto runs = runs_of(study, arm);
    std::erase_if(runs, [](RunView const* run) { return run->train.step.empty(); });
    if (!runs.empty()) out.emplace_back(arm, std::move(runs));
  }
  return out;
}
}  // namespace

std::optional<Chart> learning_curves(StudyView const& study, Looks const& looks) {
  auto const arms = trained_arms(study);
  Range steps;
  for (auto const& [arm, runs] : arms)
    for (auto const* run : runs)
      for (double const step : run->train.step) steps.add(step);
  if (steps.empty()) return std::nullopt;
  double const width = std::max(1.0, std::ceil((steps.high - steps.low + 1) / 80));
  Chart chart;
  chart.id = "learning_curves";
  for (auto const& [arm, runs] : arms) {
    Bins bins;
    for (auto const* run : runs)
      for (std::size_t k = 0; k < run->train.step.size() && k < run->train.loss.size(); ++k)
        bins.add(static_cast<std::size_t>((run->train.step[k] - steps.low) / width), run->seed, run->train.loss[k]);
    bins.draw(chart, arm, looks, steps.low - 0.5, width);
  }
  auto const& units = arms.front().second.front()->train.loss_units;
  auto const y = value_axis(chart.lines, cat({"training loss", bracketed(units)}), true);
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = linear_axis(0, steps.high, 8, "step");
  chart.x.high = std::max(steps.high, 1.0);
  std::erase_if(chart.x.ticks, [&](Tick const& tick) { return tick.value > chart.x.high; });
  chart.title = "Learning curves";
  chart.description = cat({"Training loss against optimiser step for ", labels_of(chart.lines), "."});
  chart.caption = cat({"Each point is the mean of ", fixed(width, 0), width > 1 ? " steps" : " step",
                       ", then over seeds. ", seeds_phrase(study),
                       " Arms that learn at different speeds are compared at equal budgets, not at equal loss."});
  return chart;
}

std::optional<Chart> per_position(StudyView const& study, Looks const& looks) {
  std::string probe;
  std::string units;
  std::int64_t longest = 0;
  for (auto const& run : study.runs)
    for (auto const& curve : run.positions)
      if (!study.is_control(curve.probe) && curve.length > longest)
        longest = curve.length, probe = curve.probe, units = curve.units;
  if (longest == 0) return std::nullopt;
  std::size_t const width = static_cast<std::size_t>((longest + 63) / 64);
  Chart chart;
  chart.id = "per_position";
  for (auto const& arm : arms_of(study)) {
    Bins bins;
    for (auto const* run : runs_of(study, arm))
      for (auto const& curve : run->positions)
        for (std::size_t i = 0; curve.probe == probe && curve.length == longest && i < curve.loss.size(); ++i)
          bins.add(i / width, run->seed, curve.loss[i]);
    bins.draw(chart, arm, looks, 0, static_cast<double>(width));
  }
  auto const y = value_axis(chart.lines, cat({"loss", bracketed(units)}));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = linear_axis(0, static_cast<double>(longest), 8, "position in the window [token]");
  chart.x.high = static_cast<double>(longest);
  chart.x.ticks.clear();
  double const step = std::max(1.0, static_cast<double>(longest) / 8);
  for (double x = 0; x <= chart.x.high; x += step)
    chart.x.ticks.push_back({std::floor(x), grouped(static_cast<long long>(x))});
  chart.trained = trained_mark(study, chart.x);
  if (chart.trained && chart.trained->x == chart.x.high) chart.trained.reset();
  chart.title = cat({"Loss by position, window of ", grouped(longest)});
  chart.description = cat(
      {probe, " loss at each position of a window of ", grouped(longest), " tokens for ", labels_of(chart.lines), "."});
  chart.caption =
      cat({"How well the next token is predicted after that many tokens of context, in bins of ", std::to_string(width),
           ". Where a line turns up, the encoding stops working; a line that keeps "
           "falling still gains from more context. ",
           seeds_phrase(study)});
  return chart;
}

namespace {
// A line a method; values [0, n) stand at `first`, `first` + 1, ...
Chart search_chart(StudyView const& study, Looks const& looks, std::vector<double> SearchCourse::*values,
                   double first) {
  Chart chart;
  for (auto const& course : study.search) {
    Line line{course.method, looks.of({course.encoding, course.method}), {}, false, false};
    int not_finite = 0;
    for (std::size_t n = 0; n < (course.*values).size(); ++n) {
      double const y = (course.*values)[n];
      if (std::isfinite(y))
        line.points.push_back({first + static_cast<double>(n), y});
      else
        ++not_finite;
    }
    note_gaps(chart, line.label, not_finite);
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

double last_x(Chart const& chart) {
  double last = 1;
  for (auto const& line : chart.lines) last = std::max(last, line.points.back().x);
  return last;
}
}  // namespace

std::optional<Chart> search_progress(StudyView const& study, Looks const& looks) {
  if (study.search.empty()) return std::nullopt;
  Chart chart = search_chart(study, looks, &SearchCourse::best, 1);
  auto const y = value_axis(chart.lines, cat({"best objective", bracketed(study.search.front().units)}));
  if (!y) return std::nullopt;
  chart.id = "search_progress";
  chart.y = *y;
  chart.x = linear_axis(0, last_x(chart), 8, "evaluations");
  chart.title = "Search progress";
  chart.description = cat({"Lowest objective (", study.search.front().objective,
                           ") so far against the number of evaluations for ", labels_of(chart.lines), "."});
  chart.caption =
      "How low each method has come with so many evaluations; lower is better. The objective is of the documents that "
      "the search read: what a winner does on others is in the tables.";
  return chart;
}

std::optional<Chart> search_factors(StudyView const& study, Looks const& looks) {
  if (study.search.empty()) return std::nullopt;
  Chart chart = search_chart(study, looks, &SearchCourse::factors, 0);
  auto const y = value_axis(chart.lines, "divisor of the frequency [1]");
  if (!y) return std::nullopt;
  chart.id = "search_factors";
  chart.y = *y;
  chart.x = linear_axis(0, last_x(chart), 8, "pair of channels, the fastest first");
  chart.title = "Divisors of frequencies that were found";
  chart.description =
      cat({"Divisor of each pair's frequency under the best point of ", labels_of(chart.lines), ", by pair."});
  chart.caption =
      "1 leaves a pair as trained, the factor (target / trained length) interpolates it whole. Fast pairs stand on the "
      "left.";
  return chart;
}

}  // namespace sextant::report
