#include <sextant/base/error.hpp>
#include <sextant/report/plot_parts.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cctype>

namespace sextant::report {

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
  auto const y = value_axis(chart.lines, cat({q.metric, bracketed(comparison.units)}));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = length_axis(comparison);
  chart.trained = trained_mark(study, chart.x);
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
  std::string const units = comparison.units == "1" ? "" : comparison.units;
  auto const y = value_axis(chart.lines, cat({found->metric, bracketed(units)}));
  if (!y) return std::nullopt;
  chart.y = *y;
  chart.x = length_axis(comparison, "length");
  chart.trained = trained_mark(study, chart.x);
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
