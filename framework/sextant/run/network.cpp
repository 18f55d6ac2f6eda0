#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/tasks/positions.hpp>

namespace sextant::run {
namespace {

model::ModelConfig config_of(spec::Model const& m) {
  model::ModelConfig c;
  c.vocabulary = plan::vocabulary;
  c.layers = m.layers;
  c.width = m.width;
  c.heads = m.heads;
  c.kv_heads = m.kv_heads;
  c.head_dim = m.head_width;
  c.mlp = m.mlp.kind == spec::MlpKind::swiglu ? model::MlpKind::swiglu : model::MlpKind::gelu;
  c.mlp_width = m.mlp.width;
  c.norm = m.norm.kind == spec::NormKind::rmsnorm ? model::NormKind::rmsnorm : model::NormKind::layernorm;
  c.norm_eps = m.norm.eps;
  c.qk_norm = m.qk_norm;
  c.kv_shift = m.kv_shift;
  c.tie_embedding = m.tie_embedding;
  c.init_std = m.init.std;
  c.residual_by_depth = m.init.residual == spec::Residual::by_depth;
  c.check();
  return c;
}

}  // namespace

tasks::Split split_of(tasks::Corpus const& corpus, spec::Data const& data) {
  bool const whole = data.split.cut == spec::Cut::documents;
  return tasks::split(corpus, data.split.train, data.split.test,
                      whole ? tasks::Cut::documents : tasks::Cut::contiguous);
}

std::shared_ptr<encoding::Position const> make_position(spec::Model const& m, encoding::PositionChoice const& choice,
                                                        encoding::Registry const& registry, int target_length) {
  encoding::Shape const shape{.heads = m.heads, .kv_heads = m.kv_heads, .head_dim = m.head_width, .model_dim = m.width};
  return std::make_shared<encoding::Position const>(choice, registry, shape, target_length);
}

void draw_positions(encoding::PositionSampler const& sampler, Stream const& stream, std::uint64_t row, int count,
                    double* out) {
  (sampler.skips ? tasks::draw_skip : tasks::draw_positions)(stream, row, count, sampler.below, out);
}

Network make_network(plan::TrainStage const& stage, encoding::Registry const& registry) {
  return Network(config_of(stage.model), make_position(stage.model, stage.position, registry, stage.train.length),
                 static_cast<std::uint64_t>(stage.seed));
}

fs::path weights_file(results::Store const& store, std::string const& train_id) {
  return store.stage_folder(train_id) / "weights.safetensors";
}

}  // namespace sextant::run
