#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/plan/plan.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace sextant::plan {
namespace {
void check_layers(encoding::Term const& term, int layers) {
  for (int layer : term.layers->list)
    expect(layer < layers, term.label, ": layer ", layer, " is named, and the model has layers 0 to ", layers - 1);
  expect(!term.layers->list.empty() || term.layers->from < layers, term.label, ": layers from ", term.layers->from,
         " on, and the model has layers 0 to ", layers - 1);
}

/// Gates, features and copies of query and key that a layer keeps of a token for its backward, in fp32. By formulas, as
/// everything that is planned: nothing is allocated.
double bytes_of(encoding::Position const& position, int layer, spec::Model const& model) {
  int branches = 1, branching = 0, key_sets = 1, width = model.head_width;
  bool apart = false;
  double bytes = 0;
  for (auto const& term : position.terms()) {
    if (!term.acts_in(layer)) continue;
    auto const& stages = term.stages;
    for (auto const& gate : stages.gates)  // before and after the activation, and the gradient, in double
      if (gate.active) bytes += 3 * sizeof(double) * (gate.shared_by_heads ? 1 : term.heads);
    for (auto const& feature : stages.features)
      bytes += sizeof(float) * (feature.taps > 0 ? 3.0 : 2.0) * feature.width * term.heads;
    apart = apart || stages.transform || position.scales_queries(term);
    branches = std::max(branches, stages.branches);
    if (stages.branches > 0) key_sets = ++branching == 1 ? term.encoding->key_sets() : branches;
    if (stages.transform) width += term.encoding->lifted(term.shape) - term.channels;
  }
  if (apart || branches > 1 || key_sets > 1)
    bytes += sizeof(float) * static_cast<double>(width) * (branches * model.heads + key_sets * model.kv_heads);
  return bytes;
}

/// What the maps of a layer keep of a token until they are used again. A map of several coordinates has a matrix of its own for
/// every point and head: as large as its blocks, and at most this.
double kept_bytes_of(encoding::Position const& position, int layer) {
  double bytes = 0;
  for (auto const& term : position.terms()) {
    auto const& stages = term.stages;
    if (term.acts_in(layer) && stages.transform && stages.axes > 1)
      bytes += sizeof(float) * static_cast<double>(term.channels) * term.channels * term.heads;
  }
  return bytes;
}
}  // namespace

World world_of(encoding::Registry const& registry, std::function<CorpusFacts(spec::Data const&)> corpus,
               Machine const& machine) {
  World world;
  world.machine = machine;
  world.corpus = [corpus = std::move(corpus),
                  known = std::make_shared<std::map<std::string, CorpusFacts>>()](spec::Data const& data) {
    auto const& split = data.split;
    if (!data.task.empty()) return corpus(data);
    std::string const key =
        text(data.corpus, '\n', data.tokens, '\n', split.train, ' ', split.test, ' ', static_cast<int>(split.cut));
    auto it = known->find(key);
    if (it == known->end()) it = known->emplace(key, corpus(data)).first;
    return it->second;
  };
  world.plugin_sha256 = [&registry, known = std::make_shared<std::map<std::string, std::string>>()](
                            encoding::Role role, std::string const& name) {
    std::string const file = registry.file_of(role, name).string();
    auto it = known->find(file);
    if (it == known->end()) it = known->emplace(file, sha256_file(file)).first;
    return it->second;
  };
  world.position = [&registry](spec::Model const& model, encoding::PositionChoice const& choice, int target_length) {
    encoding::Shape const shape{.heads = model.heads,
                                .kv_heads = model.kv_heads,
                                .head_dim = model.head_width,
                                .model_dim = model.width,
                                .trained_length = choice.trained_length};
    encoding::Position const position(choice, registry, shape, target_length);
    PositionFacts facts;
    for (auto const& term : position.terms()) {
      facts.table_length = std::max(facts.table_length, term.encoding->table_length());
      if (term.layers) check_layers(term, model.layers);
    }
    facts.sampler = position.sampler();
    for (auto const& parameter : position.parameters()) {
      auto const& term = position.terms()[static_cast<std::size_t>(parameter.term)];
      int copies = parameter.info.per_layer ? 0 : 1;
      for (int layer = 0; parameter.info.per_layer && layer < model.layers; ++layer) copies += term.acts_in(layer);
      facts.parameters += static_cast<std::int64_t>(parameter.info.size()) * copies;
    }
    for (int layer = 0; layer < model.layers; ++layer) {
      facts.token_bytes += bytes_of(position, layer, model);
      facts.kept_bytes += kept_bytes_of(position, layer);
    }
    return facts;
  };
  return world;
}

}  // namespace sextant::plan
