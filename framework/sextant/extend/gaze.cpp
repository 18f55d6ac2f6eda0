#include <sextant/extend/gaze.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/results/table.hpp>
#include <sextant/run/look.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/statistics/sample.hpp>

namespace sextant::extend {
results::Group measure_attention(Exec const& exec, Work const& work, Arm const& arm, run::Progress& progress) {
  auto const& lengths = work.settings.lengths;
  auto const& config = work.subject.network->config();
  std::size_t const cells = static_cast<std::size_t>(config.layers) * static_cast<std::size_t>(config.heads);
  std::vector<double> entropy, spread;  // [length, layer, head]
  results::ResultTable rows;
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    run::stop_point("while looking at attention; this measurement will begin again");
    auto network = seen_by(work, arm, lengths[n]);
    auto const& text = work.documents.front().tokens;
    int const count = std::min(work.settings.rows, lengths[n] / 2);
    auto const found =
        run::look(exec, network, std::span(text).subspan(0, static_cast<std::size_t>(lengths[n])), count);
    entropy.insert(entropy.end(), found.entropy.begin(), found.entropy.end());
    spread.insert(spread.end(), found.spread.begin(), found.spread.end());
    auto const add = [&](char const* metric, std::vector<double> const& values, char const* units) {
      rows.push_back({.probe = "attention",
                      .length = lengths[n],
                      .region = "all heads",
                      .metric = metric,
                      .value = statistics::mean(values),
                      .n = static_cast<std::int64_t>(cells) * count,
                      .units = units});
    };
    add("entropy", found.entropy, "nat");
    add("logit spread", found.spread, "1");
    progress.update(static_cast<double>(n + 1) / static_cast<double>(lengths.size()));
  }
  results::Group record;
  record.set("kind", "evaluate");
  auto& eval = record["eval"]["attention"];
  std::vector<std::int64_t> layer, head;
  for (int n = 0; n < config.layers; ++n) layer.push_back(n);
  for (int n = 0; n < config.heads; ++n) head.push_back(n);
  eval.put("length", std::vector<std::int64_t>(lengths.begin(), lengths.end()), "token", "tokens of the text");
  eval.put("layer", layer, "1", "layer");
  eval.put("head", head, "1", "query head");
  results::Shape const shape{lengths.size(), layer.size(), head.size()};
  eval.put("entropy", shape, entropy, "nat", "entropy of attention's weights, mean over rows")
      .along({"length", "layer", "head"});
  eval.put("spread", shape, spread, "1", "standard deviation of the logits that a row sees, mean over rows")
      .along({"length", "layer", "head"});
  record["results"] = results::columns(rows);
  return record;
}

}  // namespace sextant::extend
