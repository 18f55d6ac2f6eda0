// Before attention: gates, features, turns; and the chain that attention runs.
#include <sextant/base/error.hpp>
#include <sextant/encoding/binding_gates.hpp>

namespace sextant::encoding {
namespace {
GateRows rows_of(View3<double> const& v, int from) {
  return v.size() == 0 ? GateRows{} : GateRows{v.data() + from, v.extent(1) * v.extent(2), v.extent(2)};
}
template <class T>
FeatureRows<T> rows_of(View4<T> const& v) {
  std::size_t const head = v.extent(2) * v.extent(3);
  return {v.data(), v.extent(1) * head, head, v.extent_int(3)};
}
}  // namespace

template <class T>
Encoded<T> Binding<T>::encode(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q,
                              Heads<T> const& k, TokenState<T>& state) {
  State& s = *state_;
  reserve(state, layer, s.tokens.batch, s.tokens.first + s.tokens.count);
  for_each_gate(layer, [&](std::size_t t, std::size_t g, GateWork const& work) {
    auto const input =
        gate_input<T const>(work.spec, *work.term, s.tokens.count, group(), x, Heads<T const>(q), Heads<T const>(k));
    gate_forward<T>(exec, work, input, s.tokens, state.gates[s.terms[t].first_gate + g]);
    exec.fence();
  });
  for_each_feature(layer, [&](std::size_t n, FeatureWork<T> const& work) {
    feature_forward<T>(exec, work, x, s.tokens, state.features[n]);
  });
  for (std::size_t t = 0; t < terms(); ++t)
    if (active(layer, t) && s.terms[t].stages.rotate) form_tables(exec, layer, t, state);
  if (apart(layer)) return map_apart(exec, layer, q, k, state);
  Encoded<T> const out{{q}, {k}};
  turn_all(exec, layer, out, false);
  return out;
}

template <class T>
void Binding<T>::clear_gradients(int layer, TokenState<T>& state) const {
  auto const clear = [](auto const& value, auto& grad) {
    if (value.size() == 0) return;
    if (grad.size() != value.size() || grad.extent(2) != value.extent(2) || grad.extent(1) != value.extent(1))
      grad = std::decay_t<decltype(grad)>("gradient of gates", value.layout());
    else
      Kokkos::deep_copy(grad, 0);
  };
  (void)layer;
  for (auto& gate : state.gates) clear(gate.value, gate.grad);
  for (auto& feature : state.features) clear(feature.value, feature.grad);
}

template <class T>
void Binding<T>::connect(Exec const& exec, int layer, std::vector<Heads<T>> const& queries,
                         std::vector<Heads<T const>> const& keys, TokenState<T>& state, bool gradient,
                         kernels::AttentionInput<T>& in) {
  State& s = *state_;
  if (gradient) clear_gradients(layer, state);
  in.query = queries.front();
  in.key = keys.at(key_set(layer, 0));
  in.query_position = s.query_position;
  in.key_position = s.key_position;
  if (in.scale == 0) in.scale = 1 / std::sqrt(static_cast<double>(position_->shape().head_dim));
  in.modifiers.clear(), in.rows.clear(), in.more_query.clear(), in.more_key.clear();
  for (int n = 1; n < branches(layer); ++n) {
    in.more_query.push_back(Heads<T const>(queries.at(n)));
    in.more_key.push_back(keys.at(key_set(layer, n)));
  }
  s.branch_choice.clear();
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = s.terms[t];
    if (!active(layer, t)) continue;
    if (mine.stages.branches > 0) s.branch_choice.add(position_->terms()[t]);
    if (mine.bias) connect_bias(exec, layer, t, state, gradient), in.modifiers.push_back(mine.bias.get());
    if (mine.rows) connect_rows(exec, layer, t, state, gradient, in.scale), in.rows.push_back(mine.rows.get());
  }
  in.branch_rule = s.branch_choice.empty() ? nullptr : &s.branch_choice;
}

template <class T>
void Binding<T>::connect_bias(Exec const& exec, int layer, std::size_t t, TokenState<T>& state, bool gradient) {
  State& s = *state_;
  auto& mine = s.terms[t];
  Term const& term = position_->terms()[t];
  typename Bias<T>::Inputs in;
  in.least_offset = s.ranges.least_offset;
  in.most_offset = s.ranges.most_offset;
  in.whole_positions = s.ranges.whole;
  in.batch = s.tokens.batch;
  in.weights = weights_of(layer, t);
  in.query_len = s.tokens.count;
  in.key_len = s.tokens.first + s.tokens.count;
  in.head_begin = term.head_begin;
  in.heads = term.heads;
  in.first_head = term.first_head;
  in.all_heads = term.heads == position_->shape().heads;
  in.stretch = position_->stretch(term);
  in.query_position = s.query_position;
  in.key_position = s.key_position;
  in.want_gradient = gradient;
  std::vector<GateRows> query_gradient, key_gradient;
  for (std::size_t g = 0; g < mine.stages.gates.size(); ++g) {
    auto const& gate = state.gates[mine.first_gate + g];
    in.query_gates.push_back(rows_of(gate.value, s.tokens.first));
    in.key_gates.push_back(rows_of(gate.value, 0));
    query_gradient.push_back(rows_of(gate.grad, s.tokens.first));
    key_gradient.push_back(rows_of(gate.grad, 0));
  }
  mine.bias->prepare(exec, in);
  mine.bias->gradient_rows(std::move(query_gradient), std::move(key_gradient));
}

template <class T>
void Binding<T>::connect_rows(Exec const& exec, int layer, std::size_t t, TokenState<T>& state, bool gradient,
                              double scale) {
  State& s = *state_;
  auto& mine = s.terms[t];
  Term const& term = position_->terms()[t];
  typename RowTerm<T>::Inputs in;
  in.batch = s.tokens.batch;
  in.query_len = s.tokens.count;
  in.key_len = s.tokens.first + s.tokens.count;
  in.head_begin = term.head_begin;
  in.heads = term.heads;
  in.head_dim = term.shape.head_dim;
  in.first_head = term.first_head;
  in.scale = scale;
  in.tensors = tensors_of(layer, t);
  in.want_gradient = gradient;
  in.document = s.tokens.document;
  in.least_offset = s.ranges.least_offset;
  in.most_offset = s.ranges.most_offset;
  in.whole_positions = s.ranges.whole;
  in.stretch = position_->stretch(term);
  for (std::size_t g = 0; g < mine.stages.gates.size(); ++g) {
    auto const& gate = state.gates[mine.first_gate + g];
    in.query_gates.push_back(rows_of(gate.value, s.tokens.first));
    in.key_gates.push_back(rows_of(gate.value, 0));
    if (!gradient) continue;
    in.query_gate_gradient.push_back(rows_of(gate.grad, s.tokens.first));
    in.key_gate_gradient.push_back(rows_of(gate.grad, 0));
  }
  for (std::size_t f = 0; f < mine.stages.features.size(); ++f) {
    auto const& feature = state.features[mine.first_feature + f];
    in.features.push_back(rows_of(feature.value));
    if (gradient) in.feature_gradient.push_back(rows_of(feature.grad));
  }
  mine.rows->prepare(exec, in);
  expect(mine.rows->multiplies(term.head_begin) == mine.stages.multiplies, term.label,
         " says multiplies = ", mine.stages.multiplies, ", and its rows say otherwise");
}

#define SEXTANT_INSTANTIATE(T)                                                                                      \
  template Encoded<T> Binding<T>::encode(Exec const&, int, View2<T const> const&, Heads<T> const&, Heads<T> const&, \
                                         TokenState<T>&);                                                           \
  template void Binding<T>::connect(Exec const&, int, std::vector<Heads<T>> const&,                                 \
                                    std::vector<Heads<T const>> const&, TokenState<T>&, bool,                       \
                                    kernels::AttentionInput<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::encoding
