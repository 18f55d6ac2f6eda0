#include <sextant/base/error.hpp>
#include <sextant/inspect/subject.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::inspect {

Subject::Subject(encoding::PositionChoice const& choice, encoding::Registry const& registry, Setting const& setting)
    : setting_(setting), position_(std::make_shared<Position const>(choice, registry, setting.shape, setting.length)) {
  double const most = 1 << 24;
  expect(setting.length >= 2 && setting.length <= most, "inspect: the length is ", setting.length,
         " tokens, expected 2 to ", static_cast<long>(most));
  for (std::size_t t = 0; t < terms().size(); ++t) parts_.push_back(draw(t));
}

std::vector<double> Subject::values_of(Position::Parameter const& p) const {
  Stream const stream(setting_.seed, "init/" + p.name);
  std::vector<double> out(p.info.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = p.info.init(stream, i);
  return out;
}

Subject::Part Subject::draw(std::size_t t) const {
  Term const& term = terms()[t];
  auto const& stages = term.stages;
  std::vector<std::size_t> own;
  for (std::size_t n = 0; n < position_->parameters().size(); ++n)
    if (position_->parameters()[n].term == static_cast<int>(t)) own.push_back(n);
  auto const named = [&](std::string const& name) {
    for (std::size_t n : own)
      if (position_->parameters()[n].info.name == name) return static_cast<int>(n);
    return -1;
  };
  Part part;
  bool const trains = term.encoding->trains(term.shape) && !own.empty();
  part.weights = trains ? values_of(position_->parameters()[own.front()]) : position_->initial_weights(term);
  for (auto const& info : term.encoding->tensors(term.shape)) {
    int const n = named(info.name);
    expect(n >= 0, "inspect: ", term.label, " has no parameter for its tensor ", info.name);
    part.tensors.push_back(values_of(position_->parameters()[static_cast<std::size_t>(n)]));
  }
  for (auto const& gate : stages.gates) {
    int const n = gate.bias_name && gate.active ? named(gate.bias_name) : -1;
    auto bias = n < 0 ? std::vector<double>(1, 0.0) : values_of(position_->parameters()[static_cast<std::size_t>(n)]);
    for (int h = 0; h < term.heads; ++h)
      part.gate_bias.push_back(bias[bias.size() == 1 ? 0 : static_cast<std::size_t>(h)]);
  }
  if (term.encoding->table_length() > 0) part.table = {own.back()};
  return part;
}

double const* Subject::weights(std::size_t term, int head) const {
  auto const& all = parts_[term].weights;
  std::size_t const heads = terms()[term].encoding->weights_shared_by_heads() ? 1 : terms()[term].heads;
  return all.data() + (heads == 1 ? 0 : head * (all.size() / heads));
}

double Subject::table_at(std::size_t term, int row, int channel) const {
  auto const& p = position_->parameters()[parts_[term].table.at(0)];
  Stream const stream(setting_.seed, "init/" + p.name);
  return p.info.init(stream, static_cast<std::size_t>(row) * shape().model_dim + channel);
}

std::vector<double> Subject::gates(std::size_t t, int head, double position) const {
  Term const& term = terms()[t];
  auto const& stages = term.stages;
  std::vector<double> out;
  for (std::size_t g = 0; g < stages.gates.size(); ++g) {
    auto const& spec = stages.gates[g];
    double value = 0;
    if (spec.active) {
      double const z = parts_[t].gate_bias[g * term.heads + head];
      term.encoding->gate(static_cast<int>(g), formula_head(term, head), weights(t, head), 1, &z, &value);
    }
    if (spec.scan == encoding::Scan::inclusive) value *= position + 1;
    if (spec.scan == encoding::Scan::exclusive) value *= position;
    out.push_back(value);
  }
  return out;
}

std::vector<std::size_t> Subject::terms_of(int head) const {
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t < terms().size(); ++t)
    if (acts(t) && head >= terms()[t].head_begin && head < terms()[t].head_begin + terms()[t].heads) out.push_back(t);
  return out;
}

std::vector<double> distances_to(double most, int per_octave) {
  std::vector<double> out;
  for (double d = 0; d <= std::min(most, 16.0); ++d) out.push_back(d);
  for (int k = 1; out.back() < most; ++k) {
    double const d = std::min(most, std::round(16 * std::exp2(static_cast<double>(k) / per_octave)));
    if (d > out.back()) out.push_back(d);
  }
  return out;
}

}  // namespace sextant::inspect
