#include <sextant/plan/cost.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace sextant::plan {
namespace {
using spec::Model;

// Tokens that are written one at a time take longer than those of one pass: three times at 256 tokens and five at 1024 of a
// model of 0.9 M parameters, the prompt included.
constexpr double written_slower = 4;

struct Widths {
  double width, query, key_value, qkv, mlp, mlp_in;
};

Widths widths_of(Model const& model) {
  double const query = static_cast<double>(model.heads) * model.head_width;
  double const key_value = static_cast<double>(model.kv_heads) * model.head_width;
  bool const gated = model.mlp.kind != spec::MlpKind::gelu;
  return {static_cast<double>(model.width),
          query,
          key_value,
          query + 2 * key_value,
          static_cast<double>(model.mlp.width),
          (gated ? 2.0 : 1.0) * model.mlp.width};
}

// Weights of one layer's matrix products.
double layer_products(Model const& model) {
  auto const w = widths_of(model);
  return w.width * w.qkv + w.query * w.width + w.width * w.mlp_in + w.mlp * w.width;
}

double cache_bytes(Model const& model, double rows, double length) {
  return 4 * rows * length * model.layers * 2 * widths_of(model).key_value;
}

// How often a model writes on from a window.
double writings(spec::Evaluation const& evaluation) {
  std::set<spec::Writing> asked;
  for (auto const& measure : evaluation.keep) asked.insert(spec::writing_of(measure));
  return static_cast<double>(asked.size() - asked.count(spec::Writing::text));
}

double file_number(char const* path) {
  std::ifstream in(path);
  double value = 0;
  return in >> value ? value : 0;  // "max" is no number: no limit
}
}  // namespace

std::int64_t parameters_of(Model const& model, PositionFacts const& position) {
  double const norm = model.width * (model.norm.kind == spec::NormKind::layernorm ? 2.0 : 1.0);
  double const layer = layer_products(model) + 2 * norm + (model.qk_norm ? 2.0 * model.head_width : 0) +
                       (model.kv_shift ? 2.0 * model.kv_heads * model.width : 0) +
                       (model.qkv_bias ? (model.heads + 2.0 * model.kv_heads) * model.head_width : 0);
  double const embedding = static_cast<double>(model.vocabulary) * model.width;
  return static_cast<std::int64_t>(embedding * (model.tie_embedding ? 1 : 2) + model.layers * layer + norm) +
         position.parameters;
}

double forward_flop(Model const& model, double tokens, double length) {
  auto const w = widths_of(model);
  double const products = model.layers * layer_products(model) + w.width * model.vocabulary;
  return tokens * (2 * products + model.layers * 2 * length * w.query);
}

double activation_bytes(Model const& model, double rows, double length, bool backward, bool recompute) {
  auto const w = widths_of(model);
  double const tokens = rows * length;
  double const layer =
      3 * w.width + 4 + w.qkv + (model.qk_norm ? w.query + w.key_value + 2.0 * (model.heads + model.kv_heads) : 0) +
      (model.kv_shift ? 2.0 * model.kv_heads + 2 * w.key_value : 0) + w.query + model.heads + w.mlp_in + w.mlp;
  double const input = w.width;
  double const kept = !backward ? layer : recompute ? layer + model.layers * input : model.layers * (layer + input);
  double const ends = 3 * w.width + 5;
  double const gradients = backward ? 2 * w.width + w.query + w.qkv + w.mlp_in + w.mlp : 0;
  double const logits = std::min(tokens, std::max(96.0, 4194304.0 / model.vocabulary)) * model.vocabulary;
  return 4 * (tokens * (kept + ends + gradients) + logits);
}

Cost train_cost(Model const& model, spec::Steps const& steps, PositionFacts const& position, Machine const& machine,
                bool recompute) {
  Cost cost;
  cost.parameters = parameters_of(model, position);
  double const tokens = static_cast<double>(steps.rows) * steps.length;
  int const rows = steps.at_once ? std::clamp(*steps.at_once / steps.length, 1, steps.rows) : steps.rows;
  cost.flop = (recompute ? 4 : 3) * forward_flop(model, tokens, steps.length) * steps.steps;
  double const rounded = steps.precision == spec::Precision::bf16 ? 2 : 0;  // a copy of the weights
  cost.bytes = (4 * 4.0 + rounded) * static_cast<double>(cost.parameters) +
               activation_bytes(model, rows, steps.length, true, recompute) +
               static_cast<double>(rows) * steps.length * (position.token_bytes + position.kept_bytes);
  cost.seconds = cost.flop / (machine.gflops * 1e9);
  return cost;
}

int evaluate_rows(spec::Evaluation const& evaluation, int seen) {
  return std::clamp(8192 / seen, 1, evaluation.windows);
}

Cost evaluate_cost(Model const& model, spec::Evaluation const& evaluation, int rows, int seen,
                   PositionFacts const& position, Machine const& machine) {
  Cost cost;
  cost.parameters = parameters_of(model, position);
  cost.flop = forward_flop(model, static_cast<double>(evaluation.windows) * seen, seen);
  cost.bytes = 4.0 * static_cast<double>(cost.parameters) + activation_bytes(model, rows, seen, false) +
               static_cast<double>(rows) * seen * (position.token_bytes / model.layers + position.kept_bytes);
  if (spec::facts_of(evaluation.use).compares) {
    cost.flop *= 1 + static_cast<double>(evaluation.keep.size());
    cost.bytes += 2 * 4.0 * seen * model.vocabulary;
  }
  double gflops = machine.gflops;
  if (evaluation.use == spec::Probe::repetition) {
    cost.flop *= writings(evaluation);
    cost.bytes += cache_bytes(model, rows, seen);
    gflops /= written_slower;
  }
  cost.seconds = cost.flop / (gflops * 1e9);
  return cost;
}

double available_memory() {
  double available = 0;
  std::ifstream in("/proc/meminfo");
  std::string key, rest;
  double kib = 0;
  while (in >> key >> kib && std::getline(in, rest))
    if (key == "MemAvailable:") available = kib * 1024;
  double const limit = file_number("/sys/fs/cgroup/memory.max");
  double const used = file_number("/sys/fs/cgroup/memory.current");
  if (limit > 0 && (available == 0 || limit - used < available)) available = limit - used;
  return std::max(available, 0.0);
}

}  // namespace sextant::plan
