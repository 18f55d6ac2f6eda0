#include <sextant/base/error.hpp>
#include <sextant/report/compare.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sextant::report {
namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Point point_of(double x, Summary const& summary) {
  return {x, summary.mean.value_or(nan), summary.interval ? summary.interval->low : nan,
          summary.interval ? summary.interval->high : nan, summary.n};
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

// Room for every line and for bands up to half the lines' range beyond them: a band of two seeds would dwarf the lines.
// Logarithmic when asked for or when the values span more than a factor of twenty, and all are positive.
std::optional<Axis> value_axis(std::vector<Line> const& lines, std::string title, bool log = false) {
  Range values, bands;
  for (auto const& line : lines)
    for (auto const& point : line.points) {
      values.add(point.y);
      bands.add(point.low);
      bands.add(point.high);
    }
  if (values.empty()) return std::nullopt;
  bands.add(values.low);
  bands.add(values.high);
  double const room = 0.5 * (values.high - values.low);
  double const low = std::max(bands.low, values.low - room), high = std::min(bands.high, values.high + room);
  if (values.low > 0 && (log || values.high / values.low > 20)) {
    double const margin = std::pow(values.high / values.low, 0.05) * 1.02;
    return log10_axis(values.low / margin, values.high * margin, 10, std::move(title));
  }
  return linear_axis(values.low > 0 ? std::max(0.0, low) : low, high, 6, std::move(title));
}

std::string with_units(std::string const& what, std::string const& units) {
  return units.empty() ? what : cat({what, " [", units, "]"});
}

std::string seeds_phrase(StudyView const& study) {
  std::size_t const n = seeds_of(study).size();
  if (n < 2) return "One seed, so there are no bands.";
  return cat({"Bands: 95 % Student-t interval over ", std::to_string(n), " seeds."});
}

std::optional<Upright> trained_mark(StudyView const& study) {
  if (!study.trained_length) return std::nullopt;
  return Upright{static_cast<double>(*study.trained_length), cat({"trained at ", grouped(*study.trained_length)})};
}

std::optional<Upright> mark_within(StudyView const& study, Axis const& x) {
  auto mark = trained_mark(study);
  return mark && mark->x <= x.high ? mark : std::nullopt;
}

std::string labels_of(std::vector<Line> const& lines) {
  std::vector<std::string> labels;
  for (auto const& line : lines)
    if (!line.control) labels.push_back(line.label);
  return join(labels);
}

void note_gaps(Chart& chart, std::string const& label, int not_finite) {
  if (not_finite > 0)
    chart.notes.push_back(cat({label, ": ", std::to_string(not_finite), " values are not finite and are left out."}));
}

std::vector<Line> lines_of(Comparison const& comparison, Looks const& looks, bool control, Chart& chart) {
  std::vector<Line> lines;
  std::vector<std::string> empty;
  for (auto const& row : comparison.rows) {
    Line line{row.label, looks.of(row.arm), {}, true, control};
    int not_finite = 0;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      auto const& summary = row.cells[i].summary;
      not_finite += summary.not_finite;
      if (summary.n > 0) line.points.push_back(point_of(static_cast<double>(comparison.lengths[i]), summary));
    }
    if (!control) note_gaps(chart, row.label, not_finite);
    if (!line.points.empty())
      lines.push_back(std::move(line));
    else
      empty.push_back(row.label);
  }
  if (!control && !empty.empty()) chart.notes.push_back(cat({"Nothing to draw for ", join(empty), "."}));
  return lines;
}

CompareOptions options_of(Quantity const& quantity) {
  CompareOptions options;
  options.probe = quantity.probe;
  options.region = quantity.region;
  options.metric = quantity.metric;
  return options;
}

// Samples of one arm at one bin, a value a seed; then mean and interval over the seeds.
using Bins = std::map<std::size_t, std::map<std::int64_t, std::pair<double, int>>>;

std::vector<Point> averaged(Bins const& bins, double width, double first) {
  std::vector<Point> points;
  for (auto const& [bin, by_seed] : bins) {
    std::vector<double> values;
    for (auto const& entry : by_seed) values.push_back(entry.second.first / entry.second.second);
    points.push_back(point_of(first + width * (static_cast<double>(bin) + 0.5), statistics::summarize(values)));
  }
  return points;
}

// Training lines by label, in the order of arms_of. Arms differ in training only by their encoding.
std::vector<std::pair<Arm, std::vector<RunView const*>>> trained_arms(StudyView const& study) {
  std::vector<std::pair<Arm, std::vector<RunView const*>>> out;
  for (auto const& arm : arms_of(study)) {
    std::vector<RunView const*> runs;
    for (auto const& run : study.runs)
      if (!run.train.step.empty() && Arm{run.encoding, run.scaling} == arm) runs.push_back(&run);
    if (!runs.empty()) out.emplace_back(arm, std::move(runs));
  }
  return out;
}
}  // namespace

std::optional<Chart> extrapolation(StudyView const& study, Looks const& looks) {
  if (study.rows.empty()) return std::nullopt;
  Comparison const comparison = compare(study);
  Chart chart;
  chart.id = "extrapolation";
  chart.lines = lines_of(comparison, looks, false, chart);
  for (auto const& quantity : quantities_of(study)) {
    bool const same = quantity.region == comparison.quantity.region && quantity.metric == comparison.quantity.metric;
    if (!study.is_control(quantity.probe) || !same || quantity.probe == comparison.quantity.probe) continue;
    for (auto& line : lines_of(compare(study, options_of(quantity)), looks, true, chart))
      chart.lines.push_back(std::move(line));
    chart.control_label = quantity.probe;
  }
  auto const& q = comparison.quantity;
  auto const y = value_axis(chart.lines, with_units(q.metric, comparison.units));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = log2_axis(static_cast<double>(comparison.lengths.front()), static_cast<double>(comparison.lengths.back()),
                      12, "length [token]");
  chart.trained = mark_within(study, chart.x);
  chart.title =
      cat({static_cast<char>(std::toupper(q.metric[0])) == 'L' ? "Loss" : q.metric, " by length of the window"});
  chart.description = cat({q.probe, " ", q.region, " ", q.metric, " against the length of the window for ",
                           labels_of(chart.lines), ". The table above holds the same numbers."});
  std::string const direction = comparison.lower_is_better ? "Lower is better. " : "Higher is better. ";
  chart.caption = cat({direction,
                       chart.trained ? "Right of the dashed line the model sees lengths it never trained on: "
                                       "a line that stays flat there extrapolates. "
                                     : "",
                       seeds_phrase(study),
                       chart.control_label.empty() ? ""
                                                   : " Dotted: what the same model reaches when it reads only "
                                                     "the end of each window, as much as the control's context. A "
                                                     "line that does not lie below its dotted one gained nothing from "
                                                     "the longer text."});
  return chart;
}

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
    int not_finite = 0;
    for (auto const* run : runs)
      for (std::size_t k = 0; k < run->train.step.size() && k < run->train.loss.size(); ++k) {
        if (!std::isfinite(run->train.loss[k])) {
          ++not_finite;
          continue;
        }
        auto& [sum, count] = bins[static_cast<std::size_t>((run->train.step[k] - steps.low) / width)][run->seed];
        sum += run->train.loss[k];
        ++count;
      }
    note_gaps(chart, arm.label(), not_finite);
    if (!bins.empty())
      chart.lines.push_back({arm.label(), looks.of(arm), averaged(bins, width, steps.low - 0.5), false, false});
  }
  auto const y =
      value_axis(chart.lines, with_units("training loss", arms.front().second.front()->train.loss_units), true);
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
    int not_finite = 0;
    for (auto const& run : study.runs) {
      if (!(Arm{run.encoding, run.scaling} == arm)) continue;
      for (auto const& curve : run.positions) {
        if (curve.probe != probe || curve.length != longest) continue;
        for (std::size_t i = 0; i < curve.loss.size(); ++i) {
          if (!std::isfinite(curve.loss[i])) {
            ++not_finite;
            continue;
          }
          auto& [sum, count] = bins[i / width][run.seed];
          sum += curve.loss[i];
          ++count;
        }
      }
    }
    note_gaps(chart, arm.label(), not_finite);
    if (!bins.empty())
      chart.lines.push_back({arm.label(), looks.of(arm), averaged(bins, static_cast<double>(width), 0), false, false});
  }
  auto const y = value_axis(chart.lines, with_units("loss", units));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = linear_axis(0, static_cast<double>(longest), 8, "position in the window [token]");
  chart.x.high = static_cast<double>(longest);
  chart.x.ticks.clear();
  double const step = std::max(1.0, static_cast<double>(longest) / 8);
  for (double x = 0; x <= chart.x.high; x += step)
    chart.x.ticks.push_back({std::floor(x), grouped(static_cast<long long>(x))});
  chart.trained = trained_mark(study);
  if (chart.trained && chart.trained->x >= chart.x.high) chart.trained.reset();
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
        line.points.push_back({first + static_cast<double>(n), y, nan, nan, 1});
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
  auto const y = value_axis(chart.lines, with_units("best objective", study.search.front().units));
  if (!y) return std::nullopt;
  chart.id = "search_progress";
  chart.y = *y;
  chart.x = linear_axis(0, last_x(chart), 8, "evaluations");
  chart.title = "Search progress";
  chart.description = cat({"Lowest objective (", study.search.front().objective,
                           ") so far against the number of evaluations for ", labels_of(chart.lines), "."});
  chart.caption =
      "How low each method has come with so many evaluations; lower is better. The objective is of the documents that "
      "the "
      "search read: what a winner does on others is in the tables.";
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

namespace {
// The first quantity of the study that is one of these metrics.
std::optional<Quantity> first_of(StudyView const& study, std::vector<std::string> const& metrics) {
  for (auto const& quantity : quantities_of(study))
    if (std::find(metrics.begin(), metrics.end(), quantity.metric) != metrics.end()) return quantity;
  return std::nullopt;
}

// One metric of the probes by length: an arm a line, the band its interval over seeds.
std::optional<Chart> metric_by_length(StudyView const& study, Looks const& looks, char const* id,
                                      std::vector<std::string> const& metrics, std::string const& title,
                                      std::string const& caption) {
  auto const found = first_of(study, metrics);
  if (!found) return std::nullopt;
  Comparison const comparison = compare(study, options_of(*found));
  Chart chart;
  chart.id = id;
  chart.lines = lines_of(comparison, looks, false, chart);
  auto const y = value_axis(chart.lines, with_units(found->metric, comparison.units == "1" ? "" : comparison.units));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = log2_axis(static_cast<double>(comparison.lengths.front()), static_cast<double>(comparison.lengths.back()),
                      12, "length");
  chart.trained = mark_within(study, chart.x);
  chart.title = title;
  chart.description = cat({found->probe, " ", found->metric, " against length for ", labels_of(chart.lines), "."});
  chart.caption = cat({caption, " ", seeds_phrase(study)});
  return chart;
}

}  // namespace

std::optional<Chart> accuracy_by_length(StudyView const& study, Looks const& looks) {
  auto chart = metric_by_length(
      study, looks, "accuracy_by_length", {"exact", "token"}, "Answers right, by length",
      "Share of whole answers that are right, on examples that no training row shows. Higher is better.");
  if (chart) chart->y = linear_axis(0, 1, 5, chart->y.title);
  return chart;
}
std::optional<Chart> attention_distance(StudyView const& study, Looks const& looks) {
  return metric_by_length(
      study, looks, "attention_distance", {"distance95", "distance90", "distance50"}, "How far attention's weight lies",
      "Distance within which so much of the weight lies, mean over heads and rows. Each head's is in the file.");
}
std::optional<Chart> entropy_by_length(StudyView const& study, Looks const& looks) {
  return metric_by_length(
      study, looks, "entropy_by_length", {"entropy"}, "Entropy of attention, by length",
      "Entropy of a row's weights, mean over heads and rows: ln n where n keys share the weight evenly.");
}
std::optional<Chart> score_spread_by_length(StudyView const& study, Looks const& looks) {
  return metric_by_length(study, looks, "score_spread_by_length", {"spread"}, "Spread of the scores, by length",
                          "Standard deviation of the logits that a row sees, mean over heads and rows.");
}

std::optional<Chart> repetition_by_length(StudyView const& study, Looks const& looks) {
  std::vector<std::string> const metrics{"repeat4", "repeat8", "repeat16"};
  auto chart = metric_by_length(study, looks, "repetition_by_length", metrics, "Repetition, by length",
                                "Share of the runs of so many tokens that the model, writing on with the likeliest "
                                "tokens, has written before.");
  if (!chart) return chart;
  chart->y = linear_axis(0, 1, 5, chart->y.title);
  auto text = *first_of(study, metrics);
  text.metric += "_text";
  if (!first_of(study, {text.metric})) return chart;
  auto lines = lines_of(compare(study, options_of(text)), looks, true, *chart);
  if (lines.empty()) return chart;
  chart->control_label = lines.front().label = "the text itself";  // which is that of every arm
  lines.front().look = {.ink = grey};
  chart->lines.push_back(std::move(lines.front()));
  chart->caption += " Dotted: the text's own share.";
  return chart;
}

namespace {
template <auto draw>
std::optional<Figure> figure(StudyView const& study, Looks const& looks) {
  if (auto drawn = draw(study, looks)) return Figure(std::move(*drawn));
  return std::nullopt;
}

template <class Kind>
Kind only(StudyView const& study, std::string const& name, char const* kind) {
  Figure drawn = make_figure(study, name);
  expect(std::holds_alternative<Kind>(drawn), "plot: ", name, " is not a plot of ", kind);
  return std::get<Kind>(std::move(drawn));
}
}  // namespace

std::vector<Plot> const& plots() {
  static std::vector<Plot> const all{
      {"extrapolation", "loss against length, band over seeds, trained length marked", figure<extrapolation>},
      {"effective_context", "rise of the loss over the arm's own at the trained length, by length",
       figure<effective_context>},
      {"pairwise", "differences between all pairs of arms at the longest length", figure<pairwise>},
      {"learning_curves", "training loss against step, band over seeds", figure<learning_curves>},
      {"per_position", "loss by position in the longest window", figure<per_position>},
      {"search_progress", "best objective of a search by evaluation, a line a method", figure<search_progress>},
      {"search_factors", "divisors of frequencies that a search found, by pair", figure<search_factors>},
      {"accuracy_by_length", "share of right answers to a task by length, band over seeds", figure<accuracy_by_length>},
      {"needle_grid", "right answers by length and by where in the text they are told", figure<needle_grid>},
      {"needle_gain", "what being told a passkey is worth, by length and depth", figure<needle_gain>},
      {"attention_distance", "distance that holds 95 % of attention's weight, by length", figure<attention_distance>},
      {"attention_by_head", "entropy, spread and reach of each head, quantiles of distance by length",
       figure<attention_by_head>},
      {"entropy_by_length", "entropy of attention's weights by length", figure<entropy_by_length>},
      {"score_spread_by_length", "standard deviation of the logits by length", figure<score_spread_by_length>},
      {"repetition_by_length", "share of what a model writes that it has written before, by length",
       figure<repetition_by_length>}};
  return all;
}

Figure make_figure(StudyView const& study, std::string const& name) {
  std::vector<std::string> names;
  for (auto const& plot : plots()) {
    names.push_back(plot.name);
    if (name != plot.name) continue;
    auto drawn = plot.make(study, Looks(arms_of(study)));
    expect(drawn.has_value(), study.file.empty() ? study.name : study.file, ": holds no data for plot ", name);
    return std::move(*drawn);
  }
  fail("plot: no plot \"", name, "\"", did_you_mean(name, names));
}

Chart make_plot(StudyView const& study, std::string const& name) { return only<Chart>(study, name, "lines"); }
Maps make_maps(StudyView const& study, std::string const& name) { return only<Maps>(study, name, "maps"); }

std::string plot_svg(StudyView const& study, std::string const& name) { return svg_file(make_figure(study, name)); }

std::string plot_list(StudyView const* study) {
  std::string out;
  for (auto const& plot : plots()) {
    bool const here = !study || plot.make(*study, Looks(arms_of(*study))).has_value();
    out += cat({plot.name, "\t", plot.what, here ? "" : " (no data in this file)", "\n"});
  }
  return out;
}

}  // namespace sextant::report
