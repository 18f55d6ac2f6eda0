// Gates and features of one layer with their numbers, for both directions.
#pragma once
#include <sextant/encoding/binding_state.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::encoding {

template <class T>
GateInputRows<T> rows_of(Heads<T> const& x, Term const& term, int group) {
  return {x.data() + static_cast<std::int64_t>(x.stride(1)) * (term.head_begin / group) + term.channel_begin,
          static_cast<std::int64_t>(x.stride(0)),
          static_cast<std::int64_t>(x.stride(1)),
          static_cast<std::int64_t>(x.stride(2)),
          group,
          term.channels};
}
template <class T>
GateInputRows<T> rows_of(View2<T> const& x, int count) {
  std::int64_t const row = static_cast<std::int64_t>(x.stride(0));
  return {x.data(), row * count, 0, row, 1, x.extent_int(1)};
}

/// Where a gate reads, or where the gradient of what it read goes.
template <class T>
GateInputRows<T> gate_input(GateSpec const& spec, Term const& term, int count, int group, View2<T> const& x,
                            Heads<T> const& q, Heads<T> const& k) {
  switch (spec.input) {
    case GateInput::token:
      return rows_of<T>(x, count);
    case GateInput::query:
      return rows_of<T>(q, term, 1);
    case GateInput::key:
      return rows_of<T>(k, term, group);
  }
  return {};
}

/// The gate's own numbers in double, its projection normalised where the spec says so.
template <class T>
GateWork gate_work(Term const& term, GateSpec const& spec, int index, std::vector<double> weights,
                   View1<T> const& projection, View1<T> const& bias) {
  GateWork work;
  work.term = &term;
  work.spec = spec;
  work.index = index;
  work.divisor = spec.divisor > 0 ? spec.divisor : std::sqrt(static_cast<double>(term.shape.head_dim));
  work.weights = std::move(weights);
  work.weight_count = term.encoding->weight_count(term.shape);
  if (bias.size() > 0) work.bias = to_doubles(bias);
  if (projection.size() == 0) return work;
  work.projection = to_doubles(projection);
  int const heads = work.heads();
  std::size_t const width = work.projection.size() / heads;
  work.norm.assign(heads, 1.0);
  for (int h = 0; spec.unit_weight && h < heads; ++h) {
    double* w = work.projection.data() + h * width;
    double square = 0;
    for (std::size_t c = 0; c < width; ++c) square += w[c] * w[c];
    work.norm[h] = std::max(std::sqrt(square), spec.unit_eps);
    for (std::size_t c = 0; c < width; ++c) w[c] /= work.norm[h];
  }
  return work;
}

template <class T>
template <class F>
void Binding<T>::for_each_gate(int layer, F&& f) const {
  State const& s = *state_;
  for (std::size_t t = 0; t < terms(); ++t) {
    if (!active(layer, t)) continue;
    auto const& owner = s.owners[layer][t];
    auto const& specs = s.terms[t].stages.gates;
    for (std::size_t g = 0; g < specs.size(); ++g)
      if (specs[g].active)
        f(t, g,
          gate_work<T>(position_->terms()[t], specs[g], static_cast<int>(g), weights_of(layer, t),
                       s.weight(owner.gates[g].projection), s.weight(owner.gates[g].bias)));
  }
}

template <class T>
template <class F>
void Binding<T>::for_each_feature(int layer, F&& f) const {
  State const& s = *state_;
  for (std::size_t t = 0; t < terms(); ++t) {
    if (!active(layer, t)) continue;
    auto const& specs = s.terms[t].stages.features;
    for (std::size_t n = 0; n < specs.size(); ++n)
      f(s.terms[t].first_feature + n, s.feature_work(position_->terms()[t], specs[n], s.owners[layer][t].features[n]));
  }
}

}  // namespace sextant::encoding
