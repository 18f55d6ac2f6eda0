#include <sextant/run/probe.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::run {

ProbeRecord::ProbeRecord(Probing const& probing, std::vector<std::int64_t> const& windows, char const* windows_are)
    : probing_(probing), name_(probing.stage.evaluation.name) {
  auto const& stage = probing.stage;
  bool const text = probing.source.text.has_value();
  record_.set("kind", "evaluate");
  record_["config"].set("evaluate." + name_ + ".windows", static_cast<std::int64_t>(windows.size()));
  eval().put("length", std::vector<std::int64_t>{stage.length}, text ? "token" : "1",
             text ? "length of the window" : "length of the example");
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
  View2<double> const positions("positions", rows, length);
  for (int row = 0; row < rows; ++row)  // of the window, whatever stands beside it
    draw_positions(*sampler, Stream(0, "evaluate/positions"), static_cast<std::uint64_t>(first) + row, length,
                   &positions(row, 0));
  return positions;
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
    case spec::Probe::lm_loss:
      break;
  }
  return measure_loss(probing);
}

}  // namespace sextant::run
