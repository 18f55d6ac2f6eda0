#include <sextant/base/error.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/run/start.hpp>
#include <sextant/tokens/tokenizer.hpp>

#include <map>
#include <memory>

namespace sextant::run {
namespace {
spec::Pretrained describe(std::string const& name, encoding::Registry const& registry, fs::path const& cache) {
  auto const path = pretrained::find_model(name, cache);
  auto const source = pretrained::open_source(path, registry);
  auto const& d = source.description;
  auto const& c = d.config;
  expect(c.causal, source.path, ": its attention is not causal, expected a decoder");
  spec::Pretrained out;
  out.model = model_of(c);
  out.model.sha256 = pretrained::sha256_of_model(path);
  if (source.vocabulary) out.model.tokenizer_sha256 = tokens::Tokenizer(*source.vocabulary).fingerprint();
  out.position = d.position;
  out.position.trained_length = d.context_length;
  return out;
}
}  // namespace

spec::Catalogue::Models models_of(encoding::Registry const& registry, fs::path const& cache) {
  auto const known = std::make_shared<std::map<std::string, spec::Pretrained>>();
  return [&registry, cache, known](std::string const& name) {
    auto it = known->find(name);
    if (it == known->end()) it = known->emplace(name, describe(name, registry, cache)).first;
    return it->second;
  };
}

model::ModelConfig config_of(spec::Model const& m) {
  model::ModelConfig c;
  c.vocabulary = m.vocabulary;
  c.layers = m.layers;
  c.width = m.width;
  c.heads = m.heads;
  c.kv_heads = m.kv_heads;
  c.head_dim = m.head_width;
  c.mlp = m.mlp.kind == spec::MlpKind::swiglu ? model::MlpKind::swiglu
          : m.mlp.kind == spec::MlpKind::gelu ? model::MlpKind::gelu
                                              : model::MlpKind::geglu;
  c.mlp_width = m.mlp.width;
  c.norm = m.norm.kind == spec::NormKind::rmsnorm ? model::NormKind::rmsnorm : model::NormKind::layernorm;
  c.norm_eps = m.norm.eps;
  c.qk_norm = m.qk_norm;
  c.kv_shift = m.kv_shift;
  c.qkv_bias = m.qkv_bias;
  c.tie_embedding = m.tie_embedding;
  c.embedding_scale = m.embedding_scale;
  c.init_std = m.init.std;
  c.residual_by_depth = m.init.residual == spec::Residual::by_depth;
  c.check();
  return c;
}

spec::Model model_of(model::ModelConfig const& c) {
  spec::Model m;
  m.layers = c.layers;
  m.width = c.width;
  m.heads = c.heads;
  m.kv_heads = c.kv_heads;
  m.head_width = c.head_dim;
  m.vocabulary = c.vocabulary;
  m.mlp.kind = c.mlp == model::MlpKind::swiglu ? spec::MlpKind::swiglu
               : c.mlp == model::MlpKind::gelu ? spec::MlpKind::gelu
                                               : spec::MlpKind::geglu;
  m.mlp.width = c.mlp_width;
  m.norm.kind = c.norm == model::NormKind::rmsnorm ? spec::NormKind::rmsnorm : spec::NormKind::layernorm;
  m.norm.eps = c.norm_eps;
  m.qk_norm = c.qk_norm;
  m.kv_shift = c.kv_shift;
  m.qkv_bias = c.qkv_bias;
  m.tie_embedding = c.tie_embedding;
  m.embedding_scale = c.embedding_scale;
  return m;
}

encoding::PositionChoice with_original_length(encoding::PositionChoice position) {
  for (auto& scaling : position.scalings) {
    auto const original = scaling.options.find("original_length");
    if (original != scaling.options.end() && std::holds_alternative<encoding::Auto>(original->second))
      original->second = std::int64_t{position.trained_length};
  }
  return position;
}

}  // namespace sextant::run
