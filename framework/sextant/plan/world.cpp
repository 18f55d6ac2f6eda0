#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/encoding/binding.hpp>
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

/// Gates, features and copies of query and key that a layer keeps of a token for its backward, in fp32.
double bytes_of(encoding::Binding<float> const& binding, int layer, spec::Model const& model) {
  encoding::TokenState<float> state;
  binding.reserve(state, layer, 1, 1);
  double const copies = binding.apart(layer) ? binding.branches(layer) * model.heads +
                                                   binding.key_sets(layer) * static_cast<double>(model.kv_heads)
                                             : 0;
  return 1.5 * static_cast<double>(state.bytes_per_token()) + copies * binding.key_dim(layer) * sizeof(float);
}
}  // namespace

World world_of(encoding::Registry const& registry, std::function<CorpusFacts(std::string const&)> corpus,
               Machine const& machine) {
  World world;
  world.machine = machine;
  world.corpus = [corpus = std::move(corpus),
                  known = std::make_shared<std::map<std::string, CorpusFacts>>()](std::string const& name) {
    auto it = known->find(name);
    if (it == known->end()) it = known->emplace(name, corpus(name)).first;
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
    encoding::Binding<float> const binding(std::make_shared<encoding::Position const>(position), model.layers);
    for (auto const& slot : binding.slots()) facts.parameters += static_cast<std::int64_t>(slot.parameter->info.size());
    for (int layer = 0; layer < model.layers; ++layer) facts.token_bytes += bytes_of(binding, layer, model);
    return facts;
  };
  return world;
}

}  // namespace sextant::plan
