#include <sextant/inspect/cost.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::inspect {
namespace {
struct Add {
  CostAtLength& out;
  void memory(std::string const& name, double bytes) {
    if (bytes <= 0) return;
    auto const found =
        std::find_if(out.memory.begin(), out.memory.end(), [&](auto const& c) { return c.name == name; });
    (found == out.memory.end() ? out.memory.emplace_back(CostClass{name, 0}) : *found).bytes += bytes;
    out.bytes += bytes;
  }
};

void add_term(Subject const& subject, Term const& term, CostAtLength& out) {
  Add add{out};
  auto const& stages = term.stages;
  double const n = out.length, heads = term.heads, kv = std::max(1, term.shape.kv_heads), logits = n * (n + 1) / 2;
  double const width = subject.shape().model_dim;
  if (stages.rotate) {
    auto const form = term.encoding->rotary(term.shape);
    double const pairs = form.rotary_dim / 2.0, sets = form.per_head ? heads : 1;
    double const copies = stages.branches > 0 ? stages.branches + term.encoding->key_sets() : 1;
    add.memory("cos and sin", 2 * 4 * n * pairs * sets * copies);
    if (stages.branches > 0) {
      add.memory("turned copies", 4 * n * term.channels * (heads * stages.branches + kv * term.encoding->key_sets()));
      out.flop += 2.0 * term.channels * heads * logits * (stages.branches - 1);
    }
    out.flop += 6 * pairs * n * (heads * std::max(1, stages.branches) + kv * term.encoding->key_sets());
  }
  if (stages.bias) {
    bool const tabulated = stages.gates.empty();
    if (tabulated) add.memory("bias by distance", 4 * (2 * n - 1) * heads);
    out.flop += heads * logits;
  }
  for (auto const& gate : stages.gates) {
    if (!gate.active) continue;
    double const input = gate.input == encoding::GateInput::token ? width : term.channels;
    add.memory("gates", 2 * 8 * n * heads);
    out.flop += gate.weight_name ? 2 * input * n * heads : 0;
  }
  for (auto const& feature : stages.features) {
    add.memory("features", 4 * n * heads * feature.width);
    out.flop +=
        2.0 * n * (feature.rank > 0 ? feature.rank * (width + heads * feature.width) : width * heads * feature.width);
  }
  if (stages.transform) {
    double const lifted = term.encoding->lifted(term.shape);
    add.memory("transformed query and key", 4 * n * lifted * (heads + kv));
    out.flop += 2.0 * n * term.channels * lifted * (heads + kv);
  }
  if (stages.scale_query) out.flop += n * heads * term.channels;
  if (stages.embed) {
    add.memory("rows of the embedding", 4.0 * term.encoding->table_length() * width);
    out.flop += n * width;
  }
  if (stages.rows) out.flop += heads * logits;
}

double cache_bytes(Subject const& subject) {
  double bytes = 0;
  for (std::size_t t = 0; t < subject.terms().size(); ++t) {
    if (!subject.acts(t)) continue;
    Term const& term = subject.terms()[t];
    auto const& stages = term.stages;
    for (auto const& gate : stages.gates) bytes += gate.active ? 2 * 8.0 * term.heads : 0;
    for (auto const& feature : stages.features) bytes += 4.0 * term.heads * feature.width;
    double const kv = std::max(1, term.shape.kv_heads);
    bytes += 4 * kv * term.channels * (term.encoding->key_sets() - 1);
    if (stages.transform) bytes += 4 * kv * (term.encoding->lifted(term.shape) - term.channels);
  }
  return bytes;
}
}  // namespace

Cost cost(Subject const& subject) {
  Cost out;
  std::vector<double> lengths;
  for (double n = 256; n < subject.length(); n *= 2) lengths.push_back(n);
  lengths.push_back(subject.length());
  for (double n : lengths) {
    CostAtLength at{.length = n, .memory = {}};
    at.attention_flop = 2.0 * n * n * subject.shape().heads * subject.shape().head_dim;
    for (std::size_t t = 0; t < subject.terms().size(); ++t)
      if (subject.acts(t)) add_term(subject, subject.terms()[t], at);
    out.lengths.push_back(std::move(at));
  }
  out.cache_bytes_per_token = cache_bytes(subject);
  for (auto const& p : subject.position().parameters()) out.parameters += static_cast<double>(p.info.size());
  for (auto const& term : subject.terms())
    if (term.stages.rows)
      out.uncounted.push_back(term.label + " works on rows of logits by code of its own: one flop a logit is counted");
  return out;
}

}  // namespace sextant::inspect
