// After attention's backward: gradients of weights, tensors, gates and features; query and key as they were.
#include <sextant/base/error.hpp>
#include <sextant/encoding/binding_gates.hpp>

namespace sextant::encoding {
namespace {
/// to[.., 0 .. columns) = sum over `from`, in order.
template <class T>
void sum_heads(Exec const& exec, std::vector<Heads<T>> const& from, Heads<T> const& to) {
  int const heads = to.extent_int(1), len = to.extent_int(2), columns = to.extent_int(3);
  Kokkos::parallel_for(
      "sextant::sum_heads",
      Kokkos::RangePolicy<HostExec>(host_side(exec), 0, static_cast<std::int64_t>(to.extent(0)) * heads),
      [&](std::int64_t row) {
        int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
        for (int i = 0; i < len; ++i) {
          T* const out = &to(b, h, i, 0);
          std::copy_n(&from.front()(b, h, i, 0), columns, out);
          for (std::size_t n = 1; n < from.size(); ++n) {
            T const* const more = &from[n](b, h, i, 0);
            for (int c = 0; c < columns; ++c) out[c] += more[c];
          }
        }
      });
  exec.fence();
}
}  // namespace

template <class T>
void Binding<T>::finish_logits(int layer) {
  State& s = *state_;
  for (std::size_t t = 0; t < terms(); ++t) {
    if (!active(layer, t)) continue;
    auto const& owner = s.owners[layer][t];
    if (s.terms[t].bias && owner.weights >= 0) {
      std::vector<double> grad(s.weights[owner.weights].size(), 0.0);
      s.terms[t].bias->finish(grad.data());
      add_to(s.gradients[owner.weights], grad);
    }
    if (!s.terms[t].rows) continue;
    Tensors sums;
    for (int slot : owner.tensors) sums.emplace_back(s.weights[slot].size(), 0.0);
    s.terms[t].rows->finish(sums);
    for (std::size_t n = 0; n < sums.size(); ++n) add_to(s.gradients[owner.tensors[n]], sums[n]);
  }
}

template <class T>
void Binding<T>::rotary_backward(Exec const& exec, int layer, Encoded<T> const& turned, Encoded<T> const& gradients,
                                 TokenState<T>& state) {
  State& s = *state_;
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = s.terms[t];
    if (!active(layer, t) || !mine.stages.rotate) continue;
    form_tables(exec, layer, t, state);
    Term const& term = position_->terms()[t];
    int const slot = s.owners[layer][t].weights;
    Rotary const& form = mine.formed.form();
    int const gate = form.phase_gate;
    if (slot < 0 && gate < 0) continue;
    auto const& spectra = mine.spectra;
    View4<double> const grad("d inv_freq", spectra.inv_freq.layout());
    int const branches = std::max(mine.stages.branches, 1);
    for (Side side : {Side::query, Side::key})
      for (int n = 0; n < branches; ++n) {
        bool const asks = side == Side::query;
        int const set = asks ? n : key_set(layer, n);
        auto const x = Heads<T const>(asks ? turned.query.at(n) : turned.key.at(set));
        auto const g = Heads<T const>(asks ? gradients.query.at(n) : gradients.key.at(n));
        auto const& phase = mine.turn_of(side, mine.stages.branches == 0 ? 0
                                               : asks                    ? n
                                                                         : term.encoding->key_set(n))
                                .phase;
        auto const span = span_of(term, side);
        if (slot >= 0) kernels::rotation_gradient<T>(exec, x, g, phase, spectra, span, form.orientation, grad);
        if (gate >= 0)
          kernels::phase_gradient<T>(exec, x, g, spectra, span, form.orientation,
                                     state.gates[mine.first_gate + gate].grad);
      }
    exec.fence();
    if (slot < 0) continue;
    auto const weights = weights_of(layer, t);
    auto const slope = spectra_of(layer, t, true).slope;
    std::vector<double> plain(slope.front().size(), 0.0), out(weights.size(), 0.0);
    for (std::size_t k = 0; k < slope.size(); ++k)
      for (std::size_t n = 0; n < plain.size(); ++n) plain[n] += grad.data()[k * plain.size() + n] * slope[k][n];
    term.encoding->inv_freq_gradient(term.shape, weights.data(), plain.data(), out.data());
    add_to(s.gradients[slot], out);
  }
}

template <class T>
void Binding<T>::collect_apart(Exec const& exec, int layer, Encoded<T> const& gradients, Heads<T> const& grad_q,
                               Heads<T> const& grad_k) {
  scale_queries(exec, layer, gradients.query);
  // Keys of one set were turned together, so their gradients are turned back together.
  Encoded<T> sums{gradients.query, {}};
  for (int set = 0; set < key_sets(layer); ++set) {
    std::vector<Heads<T>> same;
    for (int n = 0; n < branches(layer); ++n)
      if (key_set(layer, n) == set) same.push_back(gradients.key[n]);
    expect(!same.empty(), "position: no branch reads key set ", set);
    sum_heads(exec, same, same.front());
    sums.key.push_back(same.front());
  }
  turn_all(exec, layer, sums, true);
  sum_heads(exec, sums.query, grad_q);
  sum_heads(exec, sums.key, grad_k);
}

template <class T>
void Binding<T>::encode_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q,
                                 Heads<T> const& k, Encoded<T> const& gradients, Heads<T> const& grad_q,
                                 Heads<T> const& grad_k, View2<T> const& grad_x, TokenState<T>& state) {
  State& s = *state_;
  expect(s.tokens.first == 0, "position: a backward pass needs the whole row, found a cache of ", s.tokens.first,
         " tokens before it");
  expect(s.gradients.size() == slots_.size(), "position: no gradient slices were attached");
  finish_logits(layer);
  if (apart(layer)) {
    Encoded<T> turned;
    for (auto const& view : state.query) turned.query.emplace_back(view);
    for (auto const& view : state.key) turned.key.emplace_back(view);
    rotary_backward(exec, layer, turned, gradients, state);
    collect_apart(exec, layer, gradients, grad_q, grad_k);
    map_transforms_backward(exec, layer, q, k, gradients, grad_q, grad_k);
  } else {
    Encoded<T> const turned{{q}, {k}};
    rotary_backward(exec, layer, turned, gradients, state);
    turn_all(exec, layer, gradients, true);
    turn_back(exec, layer, q, k);
  }
  gates_backward(exec, layer, x, q, k, grad_q, grad_k, grad_x, state);
}

template <class T>
void Binding<T>::turn_back(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k) {
  State& s = *state_;
  bool read = false;  // by a gate, whose gradient needs what it read
  for (std::size_t t = 0; t < terms(); ++t)
    for (auto const& gate : s.terms[t].stages.gates)
      read = read || (active(layer, t) && gate.active && gate.input != GateInput::token);
  if (!read) return;
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = s.terms[t];
    if (!active(layer, t) || !mine.stages.rotate) continue;
    Term const& term = position_->terms()[t];
    kernels::unrotate<T>(exec, q, mine.turn_of(Side::query, 0).table, span_of(term, Side::query), mine.spectra);
    kernels::unrotate<T>(exec, k, mine.turn_of(Side::key, 0).table, span_of(term, Side::key), mine.spectra);
  }
  exec.fence();
}

template <class T>
void Binding<T>::gates_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q,
                                Heads<T> const& k, Heads<T> const& grad_q, Heads<T> const& grad_k,
                                View2<T> const& grad_x, TokenState<T>& state) {
  State& s = *state_;
  int const count = s.tokens.count;
  for_each_gate(layer, [&](std::size_t t, std::size_t g, GateWork const& work) {
    auto const& owner = s.owners[layer][t];
    auto const input =
        gate_input<T const>(work.spec, *work.term, count, group(), x, Heads<T const>(q), Heads<T const>(k));
    auto const grad_input = gate_input<T>(work.spec, *work.term, count, group(), grad_x, grad_q, grad_k);
    auto const sums = gate_backward<T>(exec, work, input, grad_input, s.tokens, state.gates[s.terms[t].first_gate + g]);
    if (owner.gates[g].projection >= 0) add_to(s.gradients[owner.gates[g].projection], sums.projection);
    if (owner.gates[g].bias >= 0) add_to(s.gradients[owner.gates[g].bias], sums.bias);
    if (owner.weights >= 0) add_to(s.gradients[owner.weights], sums.weights);
  });
  for_each_feature(layer, [&](std::size_t n, FeatureWork<T> const& work) {
    feature_backward<T>(exec, work, x, s.tokens, state.features[n], grad_x);
  });
}

#define SEXTANT_INSTANTIATE(T)                                                                                         \
  template void Binding<T>::encode_backward(Exec const&, int, View2<T const> const&, Heads<T> const&, Heads<T> const&, \
                                            Encoded<T> const&, Heads<T> const&, Heads<T> const&, View2<T> const&,      \
                                            TokenState<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::encoding
