#include <sextant/base/error.hpp>
#include <sextant/run/compare.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/spec/probes.hpp>
#include <sextant/tasks/sampler.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::run {

Logits logits_of(Exec const& exec, Network& network, Window const& window) {
  int const length = static_cast<int>(window.tokens.size());
  model::Batch batch;
  batch.tokens = View2<int>("tokens", 1, length);
  std::copy(window.tokens.begin(), window.tokens.end(), batch.tokens.data());
  batch.positions = window.positions;
  Logits const out("logits", length, network.config().vocabulary);
  network.logits(exec, batch, out);
  exec.fence();
  return out;
}

double distance(Logits const& a, Logits const& b) {
  expect(a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1), "distance of logits: [", b.extent(0), ", ",
         b.extent(1), "], expected [", a.extent(0), ", ", a.extent(1), "]");
  float const *const x = a.data(), *const y = b.data();
  double const count = static_cast<double>(a.size());
  double mean = 0, square = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    expect(std::isfinite(x[i]) && std::isfinite(y[i]), "distance of logits: ", x[i], " and ", y[i], " at token ",
           i / a.extent(1), ", expected finite numbers");
    mean += x[i] / count;
    largest = std::max(largest, std::abs(double{x[i]} - double{y[i]}));
  }
  for (std::size_t i = 0; i < a.size(); ++i) square += (x[i] - mean) * (x[i] - mean) / count;
  expect(square > 0, "distance of logits: all of them are ", mean, ", expected some that differ");
  return largest / std::sqrt(square);
}

results::Group compare_passes(Probing const& p, ReadWindow const& read) {
  auto const& wanted = p.stage.evaluation;
  auto const& facts = spec::facts_of(wanted.use);
  int const length = p.stage.row;
  auto const part = split_of(*p.source.text, p.stage.data);
  tasks::EvalWindows const windows(part.test, wanted.windows, p.stage.span, p.source.text->name + "'s test text");
  std::vector<std::vector<double>> by_window(wanted.keep.size());
  for (int w = 0; w < windows.count(); ++w) {
    stop_point("while comparing passes; finished stages are kept");
    tasks::Tokens const tokens("window", 1, length + 1);
    windows.rows(p.exec, w, tokens);
    p.exec.fence();
    auto const found = read({std::span<std::int32_t const>(tokens.data(), static_cast<std::size_t>(length)),
                             evaluation_positions(p.network, w, 1, length)},
                            w);
    for (std::size_t k = 0; k < found.size(); ++k) by_window[k].push_back(found[k]);
    p.progress.update((w + 1.0) / windows.count());
  }
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  for (std::size_t k = 0; k < wanted.keep.size(); ++k) {
    auto const measure = std::find_if(facts.measures.begin(), facts.measures.end(),
                                      [&](auto const& each) { return each.name == wanted.keep[k]; });
    record.add({measure->name, "mean", measure->name, measure->units, measure->about}, by_window[k], windows.count());
  }
  return record.finish();
}

}  // namespace sextant::run
