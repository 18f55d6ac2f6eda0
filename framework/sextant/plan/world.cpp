#include <sextant/base/file.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/plan/plan.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace sextant::plan {

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
    for (auto const& parameter : position.parameters())
      facts.parameters +=
          static_cast<std::int64_t>(parameter.info.size()) * (parameter.info.per_layer ? model.layers : 1);
    for (auto const& term : position.terms())
      facts.table_length = std::max(facts.table_length, term.encoding->table_length());
    return facts;
  };
  return world;
}

}  // namespace sextant::plan
