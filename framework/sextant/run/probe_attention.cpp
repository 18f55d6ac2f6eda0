// attention: what the weights look like over windows of the test text.
#include <sextant/run/look.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/spec/probes.hpp>

#include <numeric>

namespace sextant::run {
namespace {
constexpr int rows_looked_at = 16;

/// A measure of a head.
double of_head(Gaze const& gaze, std::string const& measure, int layer, int head) {
  std::size_t const cell = static_cast<std::size_t>(layer) * gaze.heads + head;
  if (measure == "entropy") return gaze.entropy[cell];
  if (measure == "spread") return gaze.spread[cell];
  return gaze.quantile(layer, head, std::stod(measure.substr(std::string("distance").size())) / 100);
}
}  // namespace

results::Group measure_attention(Probing const& p) {
  auto const windows = test_windows(p);
  int const length = p.stage.row, layers = p.network.config().layers, heads = p.network.config().heads;
  auto const& keep = p.stage.evaluation.keep;
  std::size_t const cells = static_cast<std::size_t>(layers) * static_cast<std::size_t>(heads);
  std::vector<std::vector<double>> by_window(keep.size()), by_head(keep.size(), std::vector<double>(cells));
  each_window(p, windows, "while looking at attention; finished stages are kept", [&](auto tokens, int w) {
    Gaze const gaze = look(p.exec, p.network, tokens.first(static_cast<std::size_t>(length)),
                           std::min(rows_looked_at, length / 2), evaluation_positions(p.network, w, 1, length));
    for (std::size_t k = 0; k < keep.size(); ++k) {
      std::vector<double> each;
      for (int layer = 0; layer < layers; ++layer)
        for (int head = 0; head < heads; ++head) each.push_back(of_head(gaze, keep[k], layer, head));
      for (std::size_t c = 0; c < cells; ++c) by_head[k][c] += each[c] / windows.count();
      by_window[k].push_back(std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(cells));
    }
  });
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  std::vector<std::int64_t> layer(static_cast<std::size_t>(layers)), head(static_cast<std::size_t>(heads));
  std::iota(layer.begin(), layer.end(), 0);
  std::iota(head.begin(), head.end(), 0);
  record.eval().put("layer", layer, "1", "layer");
  record.eval().put("head", head, "1", "query head");
  for (std::size_t k = 0; k < keep.size(); ++k) {
    record.keep(keep[k], by_window[k], static_cast<std::int64_t>(cells) * windows.count());
    record.eval()
        .put(keep[k] + "_by_head", {1, layer.size(), head.size()}, by_head[k],
             spec::units_of(spec::facts_of(p.stage.evaluation.use), keep[k]),
             keep[k] + " of each head, mean over windows")
        .along({"length", "layer", "head"});
  }
  return record.finish();
}

}  // namespace sextant::run
