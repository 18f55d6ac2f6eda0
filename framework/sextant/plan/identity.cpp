#include <sextant/base/file.hpp>
#include <sextant/plan/identity.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <sextant/base/json.hpp>

namespace sextant::plan {
namespace {
using encoding::Choice;
using encoding::PositionChoice;
using encoding::Role;
using nlohmann::json;  // an object sorts its keys; a double is written with as many digits as it takes to read it back

json value_json(encoding::Value const& value) {
  struct Write {
    json operator()(encoding::Auto) const { return nullptr; }
    json operator()(bool b) const { return b; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(double x) const { return x; }
    json operator()(std::string const& s) const { return s; }
    json operator()(std::vector<double> const& list) const { return list; }
  };
  return std::visit(Write{}, value);
}

json choice_json(Choice const& choice, Role role, World const& world) {
  json options = json::object(), parts = json::array();
  for (auto const& [name, value] : choice.options) options[name] = value_json(value);
  for (auto const& part : choice.parts) parts.push_back(choice_json(part, role, world));
  json out = {
      {"use", choice.use}, {"plugin", world.plugin_sha256(role, choice.use)}, {"options", options}, {"parts", parts}};
  if (auto const& layers = choice.layers)
    out["layers"] =
        layers->list.empty() ? json({{"every", layers->every}, {"from", layers->from}}) : json(layers->list);
  return out;
}

json position_json(PositionChoice const& position, World const& world) {
  json encodings = json::array(), scalings = json::array();
  for (auto const& choice : position.encodings) encodings.push_back(choice_json(choice, Role::encoding, world));
  for (auto const& choice : position.scalings) scalings.push_back(choice_json(choice, Role::scaling, world));
  return {{"encodings", encodings}, {"scalings", scalings}, {"trained_length", position.trained_length}};
}

char const* word(spec::MlpKind kind) {
  return kind == spec::MlpKind::swiglu ? "swiglu" : kind == spec::MlpKind::gelu ? "gelu" : "geglu";
}

json model_json(spec::Model const& m) {
  json out = {{"family", "decoder"},
              {"layers", m.layers},
              {"width", m.width},
              {"heads", m.heads},
              {"kv_heads", m.kv_heads},
              {"head_width", m.head_width},
              {"mlp", word(m.mlp.kind)},
              {"mlp_width", m.mlp.width},
              {"norm", m.norm.kind == spec::NormKind::rmsnorm ? "rmsnorm" : "layernorm"},
              {"norm_eps", m.norm.eps},
              {"qk_norm", m.qk_norm},
              {"kv_shift", m.kv_shift},
              {"tie_embedding", m.tie_embedding},
              {"init_std", m.init.std},
              {"init_residual_by_depth", m.init.residual == spec::Residual::by_depth}};
  // What came later is named where it differs from what all models had before.
  if (m.vocabulary != 256) out["vocabulary"] = m.vocabulary;
  if (m.qkv_bias) out["qkv_bias"] = true;
  if (m.embedding_scale != 1) out["embedding_scale"] = m.embedding_scale;
  if (!m.from.empty()) out["from"] = m.sha256;
  return out;
}

json data_json(spec::Data const& d, World const& world) {
  auto const facts = world.corpus(d);
  if (!d.task.empty()) {
    json task = {{"task", choice_json(d.task[0], Role::task, world)}};
    if (!facts.sha256.empty()) task["files"] = facts.sha256;
    return task;
  }
  json data = {{"corpus", facts.sha256},
               {"tokens", facts.tokenizer_sha256.empty() ? "bytes" : facts.tokenizer_sha256},
               {"train", d.split.train}};
  if (d.split.cut == spec::Cut::documents) {  // there the documents to train on depend on those to test on
    data["cut"] = "documents";
    data["test"] = d.split.test;
  }
  return data;
}

json steps_json(spec::Steps const& t) {
  json out = {{"steps", t.steps},
              {"length", t.length},
              {"rows", t.rows},
              {"optimiser", "adamw"},
              {"rate", t.optimiser.rate},
              {"betas", t.optimiser.betas},
              {"eps", t.optimiser.eps},
              {"decay", t.optimiser.decay},
              {"clip", t.optimiser.clip},
              {"schedule", "cosine"},
              {"warmup", t.schedule.warmup},
              {"floor", t.schedule.floor},
              {"precision", t.precision == spec::Precision::bf16 ? bf16_numerics : "fp32"}};
  if (t.at_once) out["at_once"] = *t.at_once;
  return out;
}
}  // namespace

std::string canonical_train(TrainStage const& stage, World const& world) {
  json all = {{"stage", stage.parent.empty() ? "train" : "tune"},
              {"numerics", numerics_revision},
              {"model", model_json(stage.model)},
              {"position", position_json(stage.position, world)},
              {"data", data_json(stage.data, world)},
              {"train", steps_json(stage.train)},
              {"seed", stage.seed},
              {"order_seed", stage.order_seed}};
  if (!stage.parent.empty()) all["parent"] = stage.parent;
  return all.dump();
}

std::string canonical_evaluate(EvaluateStage const& stage, World const& world) {
  auto keep = stage.evaluation.keep;
  std::sort(keep.begin(), keep.end());
  bool const loss = stage.evaluation.use == spec::Probe::lm_loss;
  json all = {{"stage", "evaluate"},
              {"numerics", numerics_revision},
              {"weights", stage.train_id},
              {"test", stage.data.split.test},
              {"position", position_json(stage.position, world)},
              {"probe", spec::facts_of(stage.evaluation.use).name},
              {"name", stage.evaluation.name},  // the record bears it
              {"length", stage.length},
              {"span", stage.span},
              {"windows", stage.evaluation.windows},
              {"rows", stage.rows},
              {"context", stage.seen()},
              {"keep", keep},
              {"record", loss ? 2 : 1}};  // of lm_loss 2: with the values of each window
  if (stage.evaluation.origin != 0) all["origin"] = stage.evaluation.origin;
  return all.dump();
}

std::string canonical_position(PositionChoice const& position, World const& world) {
  return position_json(position, world).dump();
}

std::string id_of(std::string const& canonical) { return sha256(canonical).substr(0, 16); }

}  // namespace sextant::plan
