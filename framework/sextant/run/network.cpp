#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/run/start.hpp>
#include <sextant/tasks/positions.hpp>
#include <sextant/tokens/bytes.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::run {
std::shared_ptr<encoding::Position const> make_position(spec::Model const& m, encoding::PositionChoice const& choice,
                                                        encoding::Registry const& registry, int target_length) {
  encoding::Shape const shape{.heads = m.heads, .kv_heads = m.kv_heads, .head_dim = m.head_width, .model_dim = m.width};
  return std::make_shared<encoding::Position const>(choice, registry, shape, target_length);
}

View2<double> drawn_positions(encoding::PositionSampler const& sampler, Stream const& stream, std::uint64_t first,
                              int rows, int length) {
  View2<double> const out("positions", rows, length);
  for (int row = 0; row < rows; ++row)
    (sampler.skips ? tasks::draw_skip : tasks::draw_positions)(stream, first + static_cast<std::uint64_t>(row), length,
                                                               sampler.below, &out(row, 0));
  return out;
}

model::Batch one_row(std::span<std::int32_t const> tokens, View2<double> const& positions) {
  model::Batch batch;
  batch.tokens = View2<int>("tokens", 1, tokens.size());
  std::copy(tokens.begin(), tokens.end(), batch.tokens.data());
  batch.positions = positions;
  return batch;
}

Network make_network(plan::TrainStage const& stage, encoding::Registry const& registry, model::Start start) {
  model::ModelConfig config = config_of(stage.model);
  if (stage.train.precision == spec::Precision::bf16) config.precision = model::Precision::bf16;
  return Network(config, make_position(stage.model, stage.position, registry, stage.train.length),
                 static_cast<std::uint64_t>(stage.seed), start);
}

Network first_network(plan::TrainStage const& stage, encoding::Registry const& registry, results::Store const& store,
                      fs::path const& cache) {
  bool const fresh = stage.parent.empty() && stage.model.from.empty();
  Network network = make_network(stage, registry, fresh ? model::Start::drawn : model::Start::zero);
  if (!stage.parent.empty()) {
    model::load_parameters(weights_file(store, stage.parent), network);
  } else if (!fresh) {
    auto const source = pretrained::open_source(pretrained::find_model(stage.model.from, cache), registry);
    auto const loaded =
        pretrained::load<float>(source, make_position(stage.model, stage.position, registry, stage.train.length),
                                static_cast<std::uint64_t>(stage.seed));
    Kokkos::deep_copy(network.parameters(), loaded.parameters());
  }
  return network;
}

nlohmann::ordered_json note_of(plan::TrainStage const& stage, Network const& network, fs::path const& cache) {
  if (!stage.data.task.empty()) return nlohmann::ordered_json::object();  // its tokens are no text's
  pretrained::Description description;
  description.family = "sextant";
  description.config = network.config();
  description.position = with_original_length(stage.position);
  description.context_length = stage.train.length;
  description.naming = pretrained::Naming::sextant;
  auto const tokenizer = tokenizer_of(stage.data.tokens, cache);
  return pretrained::note_of(description, tokenizer ? tokenizer->vocabulary() : tokens::byte_vocabulary());
}

fs::path weights_file(results::Store const& store, std::string const& train_id) {
  return store.stage_folder(train_id) / "weights.safetensors";
}

}  // namespace sextant::run
