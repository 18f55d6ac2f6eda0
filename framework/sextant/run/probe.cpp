#include <sextant/base/error.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::run {

ProbeRecord::ProbeRecord(Probing const& probing, std::vector<std::int64_t> const& windows, char const* windows_are)
    : probing_(probing), name_(probing.stage.evaluation.name) {
  auto const& stage = probing.stage;
  bool const text = probing.source.text.has_value();
  record_.set("kind", "evaluate");
  record_["config"].set("evaluate." + name_ + ".windows", static_cast<std::int64_t>(windows.size()));
  eval().put(
      "length", std::vector<std::int64_t>{stage.length}, text ? "token" : "1",
      text ? "length of the window" : sextant::text("length of the example, in ", probing.source.task->length_means()));
  eval()
      .put("seen", std::vector<std::int64_t>{stage.seen()}, "token", "tokens that the model saw at most")
      .along({"length"});
  eval().put("window", windows, text ? "token" : "1", windows_are);
}

void ProbeRecord::add(Measure const& measure, std::vector<double> const& each, std::int64_t n) {
  Mean const mean = mean_of(each);
  auto const& stage = probing_.stage;
  eval().put(measure.name, std::vector<double>{mean.value}, measure.units, measure.what).along({"length"});
  eval()
      .put(measure.name + "_stderr", std::vector<double>{mean.error}, measure.units,
           "standard error of " + measure.name + " over windows")
      .along({"length"});
  eval()
      .put(measure.name + "_by_window", {1, each.size()}, each, measure.units, measure.name + " of each window")
      .along({"length", "window"});
  rows_.push_back({.study = probing_.plan.study,
                   .run = probing_.run,
                   .seed = stage.seed,
                   .encoding = stage.arm,
                   .scaling = stage.view,
                   .probe = name_,
                   .length = stage.length,
                   .region = measure.region,
                   .metric = measure.metric,
                   .value = mean.value,
                   .error = mean.error,
                   .n = n,
                   .units = measure.units});
}

void ProbeRecord::keep(std::string const& measure, std::vector<double> const& each, std::int64_t n) {
  auto const& facts = spec::measure_of(spec::facts_of(probing_.stage.evaluation.use), measure);
  add({measure, "mean", measure, facts.units, facts.about}, each, n);
}

results::Group ProbeRecord::finish() {
  record_["results"] = results::columns(rows_);
  return std::move(record_);
}

Mean mean_of(std::vector<double> const& each) {
  double const count = static_cast<double>(each.size());
  Mean out;
  for (double x : each) out.value += x / count;
  double square = 0;
  for (double x : each) square += (x - out.value) * (x - out.value);
  out.error = count > 1 ? std::sqrt(square / (count - 1) / count) : std::nan("");
  return out;
}

View2<double> evaluation_positions(Network const& network, int first, int rows, int length) {
  auto const& sampler = network.position().sampler();
  if (!sampler || !sampler->evaluates) return {};
  // of the window, whatever stands beside it
  return drawn_positions(*sampler, Stream(0, "evaluate/positions"), static_cast<std::uint64_t>(first), rows, length);
}

tasks::EvalWindows test_windows(Probing const& p) {
  return tasks::EvalWindows(split_of(*p.source.text, p.stage.data).test, p.stage.evaluation.windows, p.stage.span,
                            p.source.text->name + "'s test text");
}

void each_window(Probing const& p, tasks::EvalWindows const& windows, char const* doing, UseWindow const& use) {
  for (int w = 0; w < windows.count(); ++w) {
    stop_point(doing);
    tasks::Tokens const tokens("window", 1, p.stage.row + 1);
    windows.rows(p.exec, w, tokens);
    p.exec.fence();
    use(std::span<std::int32_t const>(tokens.data(), tokens.size()), w);
    p.progress.update((w + 1.0) / windows.count());
  }
}

View2<double> losses(Probing const& p, tasks::Tokens const& tokens, int first) {
  int const rows = tokens.extent_int(0), length = tokens.extent_int(1) - 1;
  View2<double> const nll("nll", rows, length);
  auto batch = model::next_token_batch(p.exec, tokens);
  batch.positions = evaluation_positions(p.network, first, rows, length);
  p.network.loss_per_token(p.exec, batch, nll);
  p.exec.fence();
  return nll;
}

double depth_of(int n) { return (n % depths + 0.5) / depths; }

void put_depths(results::Group& eval, char const* depth_is) {
  std::vector<double> depth;
  for (int d = 0; d < depths; ++d) depth.push_back(depth_of(d));
  eval.put("depth", depth, "1", depth_is);
}

void put_by_depth(results::Group& eval, std::string const& measure, std::vector<double> const& each,
                  std::string const& units, std::string const& told) {
  std::vector<double> mean(depths), count(depths);
  for (std::size_t n = 0; n < each.size(); ++n) mean[n % depths] += each[n], count[n % depths] += 1;
  for (int d = 0; d < depths; ++d) mean[d] = count[d] > 0 ? mean[d] / count[d] : std::nan("");
  auto& grid = eval.put(measure + "_by_depth", {1, depths}, mean, units, text(measure, " by where ", told));
  grid.along({"length", "depth"});
  if (each.size() < depths) grid.reason("fewer measured than depths");
}

results::Group evaluate(Exec const& exec, plan::EvaluateStage const& stage, plan::Plan const& plan,
                        std::string const& run, Source const& source, Network& network, Progress& progress) {
  Probing const probing{exec, stage, plan, run, source, network, progress};
  switch (stage.evaluation.use) {
    case spec::Probe::accuracy:
      return measure_accuracy(probing);
    case spec::Probe::passkey:
      return measure_passkey(probing);
    case spec::Probe::attention:
      return measure_attention(probing);
    case spec::Probe::order:
      return measure_order(probing);
    case spec::Probe::permutation:
      return measure_permutation(probing);
    case spec::Probe::shift:
      return measure_shift(probing);
    case spec::Probe::streaming:
      return measure_streaming(probing);
    case spec::Probe::repetition:
      return measure_repetition(probing);
    case spec::Probe::lm_loss:
      break;
  }
  return measure_loss(probing);
}

}  // namespace sextant::run
