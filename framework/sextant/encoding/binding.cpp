#include <sextant/base/error.hpp>
#include <sextant/encoding/binding.hpp>
#include <sextant/encoding/gates.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sextant::encoding {
namespace {

template <class T>
std::vector<double> to_doubles(View1<T> const& view) {
  std::vector<double> out(view.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(view(i));
  return out;
}
template <class T>
void add_to(View1<T> const& view, std::vector<double> const& more) {
  for (std::size_t i = 0; i < more.size(); ++i) view(i) += static_cast<T>(more[i]);
}

/// What is known of the positions of one call.
struct Ranges {
  double least_offset = 0, most_offset = 0;
  bool whole = true;
};

Ranges ranges_of(Tokens const& tokens) {
  Ranges out;
  int const rows = tokens.position.extent_int(0), len = tokens.first + tokens.count;
  for (int b = 0; b < rows; ++b) {
    double key_least = 0, key_most = 0, query_least = 0, query_most = 0;
    for (int j = 0; j < len; ++j) {
      double const p = tokens.position(b, j);
      expect(std::isfinite(p), "position of token ", j, " in row ", b, " is ", p, ", expected a finite number");
      out.whole &= p == std::floor(p);
      key_least = j ? std::min(key_least, p) : p;
      key_most = j ? std::max(key_most, p) : p;
      if (j < tokens.first) continue;
      query_least = j > tokens.first ? std::min(query_least, p) : p;
      query_most = j > tokens.first ? std::max(query_most, p) : p;
    }
    out.least_offset = b ? std::min(out.least_offset, query_least - key_most) : query_least - key_most;
    out.most_offset = b ? std::max(out.most_offset, query_most - key_least) : query_most - key_least;
  }
  return out;
}

bool same(View2<double> const& a, View2<double> const& b) {
  return a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1) &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

template <class T>
GateInputRows<T> rows_of(Heads<T> const& x, int head_begin, int channel_begin, int width, int group) {
  return {x.data() + static_cast<std::int64_t>(x.stride_1()) * (head_begin / group) + channel_begin,
          static_cast<std::int64_t>(x.stride_0()),
          static_cast<std::int64_t>(x.stride_1()),
          static_cast<std::int64_t>(x.stride_2()),
          group,
          width};
}
template <class T>
GateInputRows<T> rows_of(View2<T> const& x, int count) {
  std::int64_t const row = static_cast<std::int64_t>(x.stride_0());
  return {x.data(), row * count, 0, row, 1, x.extent_int(1)};
}

}  // namespace

std::size_t GateCache::bytes_per_token() const {
  std::size_t bytes = 0;
  for (auto const& gate : gates) bytes += 2 * sizeof(double) * gate.z.extent(1);
  return bytes;
}

template <class T>
struct Binding<T>::State {
  struct Owner {  // slots of one term in one layer; -1: none
    int weights = -1, table = -1;
    std::vector<int> projection, bias;  // per gate
  };
  struct TermState {
    Stages stages;
    std::unique_ptr<Bias<T>> bias;
    std::vector<double> constant;  // weights that are not trained
    int first_gate = 0;            // in GateCache::gates
    View2<double> phase;           // rotary: of the new tokens
    kernels::RotationTable<T> table;
    std::vector<double> table_inv_freq;  // what the table was formed for
    double table_factor = 1;
    bool table_fresh = false;
    View2<T> rows;  // embedding rows of the new tokens
  };
  std::vector<std::vector<Owner>> owners;  // [layer][term]
  std::vector<TermState> terms;
  std::vector<View1<T>> weights, gradients;
  Tokens tokens;
  Ranges ranges;
  View2<double> query_position, key_position;
  int layers = 0, gates = 0;
};

template <class T>
Binding<T>::~Binding() = default;
template <class T>
Binding<T>::Binding(Binding&&) noexcept = default;

template <class T>
Binding<T>::Binding(std::shared_ptr<Position const> position, int layers)
    : position_(std::move(position)), state_(std::make_unique<State>()) {
  State& s = *state_;
  s.layers = layers;
  auto const& terms = position_->terms();
  s.owners.assign(layers, std::vector<typename State::Owner>(terms.size()));
  for (auto const& term : terms) {
    typename State::TermState t;
    t.stages = term.encoding->stages(term.shape);
    t.bias = t.stages.bias ? term.encoding->template bias<T>(term.shape) : nullptr;
    t.constant = position_->initial_weights(term);
    t.first_gate = s.gates;
    s.gates += static_cast<int>(t.stages.gates.size());
    s.terms.push_back(std::move(t));
  }
  for (auto const& parameter : position_->parameters()) {
    Term const& term = terms[parameter.term];
    auto const& specs = s.terms[parameter.term].stages.gates;
    int const copies = parameter.info.per_layer ? layers : 1;
    for (int l = 0; l < copies; ++l) {
      int const slot = static_cast<int>(slots_.size());
      bool const per_layer = parameter.info.per_layer;
      slots_.push_back(
          {(per_layer ? text("layers.", l, ".") : std::string()) + parameter.name, per_layer ? l : -1, &parameter});
      for (int owner = per_layer ? l : 0; owner < (per_layer ? l + 1 : layers); ++owner) {
        auto& mine = s.owners[owner][parameter.term];
        mine.projection.resize(specs.size(), -1);
        mine.bias.resize(specs.size(), -1);
        bool gate = false;
        for (std::size_t g = 0; g < specs.size(); ++g) {
          if (specs[g].weight_name && parameter.info.name == specs[g].weight_name)
            mine.projection[g] = slot, gate = true;
          if (specs[g].bias_name && parameter.info.name == specs[g].bias_name) mine.bias[g] = slot, gate = true;
        }
        if (gate) continue;
        if (term.encoding->table_length() > 0)
          mine.table = slot;
        else
          mine.weights = slot;
      }
    }
  }
  for (auto& layer : s.owners)
    for (std::size_t t = 0; t < layer.size(); ++t) {
      layer[t].projection.resize(s.terms[t].stages.gates.size(), -1);
      layer[t].bias.resize(s.terms[t].stages.gates.size(), -1);
    }
}

template <class T>
void Binding<T>::attach(std::vector<View1<T>> weights, std::vector<View1<T>> gradients) {
  expect(weights.size() == slots_.size(), "position: ", weights.size(), " weight slices for ", slots_.size(), " slots");
  expect(gradients.empty() || gradients.size() == slots_.size(), "position: ", gradients.size(),
         " gradient slices for ", slots_.size(), " slots");
  for (std::size_t n = 0; n < slots_.size(); ++n)
    expect(weights[n].size() == slots_[n].parameter->info.size(), slots_[n].name, ": the slice has ", weights[n].size(),
           " numbers, expected ", slots_[n].parameter->info.size());
  state_->weights = std::move(weights);
  state_->gradients = std::move(gradients);
}

template <class T>
View2<double> const& Binding<T>::query_position() const {
  return state_->query_position;
}
template <class T>
View2<double> const& Binding<T>::key_position() const {
  return state_->key_position;
}

template <class T>
void Binding<T>::begin(Exec const& exec, Tokens const& tokens) {
  State& s = *state_;
  int const len = tokens.first + tokens.count, rows = tokens.position.extent_int(0);
  expect(rows == 1 || rows == tokens.batch, "position: ids are [", rows, ", ", tokens.position.extent(1),
         "], expected batch ", tokens.batch, " or 1 rows");
  expect(tokens.position.extent_int(1) == len, "position: ids for ", tokens.position.extent(1), " tokens, expected ",
         len);
  expect(tokens.document.size() == 0 ||
             (tokens.document.extent_int(0) == tokens.batch && tokens.document.extent_int(1) == len),
         "position: document ids are [", tokens.document.extent(0), ", ", tokens.document.extent(1), "], expected [",
         tokens.batch, ", ", len, "]");
  bool const same_place = s.key_position.extent_int(0) > 0 && s.tokens.first == tokens.first &&
                          s.tokens.count == tokens.count && same(s.key_position, tokens.position);
  s.tokens = tokens;
  if (!same_place) {
    s.ranges = ranges_of(tokens);
    s.key_position = View2<double>(uninitialized("key position"), rows, len);
    s.query_position = View2<double>(uninitialized("query position"), rows, tokens.count);
    for (int b = 0; b < rows; ++b)
      for (int j = 0; j < len; ++j) {
        s.key_position(b, j) = tokens.position(b, j);
        if (j >= tokens.first) s.query_position(b, j - tokens.first) = tokens.position(b, j);
      }
  }
  auto const& terms = position_->terms();
  for (std::size_t t = 0; t < terms.size(); ++t) {
    auto& mine = s.terms[t];
    if (same_place) continue;
    if (mine.stages.rotate) {
      mine.phase = View2<double>(uninitialized("phase"), rows, tokens.count);
      for (int b = 0; b < rows; ++b)
        for (int i = 0; i < tokens.count; ++i) mine.phase(b, i) = terms[t].encoding->phase(s.query_position(b, i));
      mine.table_fresh = false;
    }
    if (mine.stages.embed && terms[t].encoding->table_length() == 0) {
      int const width = position_->shape().model_dim;
      mine.rows = View2<T>(uninitialized("embedding rows"), static_cast<std::size_t>(rows) * tokens.count, width);
      auto const out = mine.rows;
      auto const* encoding = terms[t].encoding.get();
      Shape const shape = terms[t].shape;
      auto const at = s.query_position;
      int const count = tokens.count;
      Kokkos::parallel_for("sextant::embedding_rows",
                           Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(rows) * count),
                           [=](std::int64_t row) {
                             std::vector<double> values(width);
                             encoding->embed_row(shape, at(row / count, row % count), values.data());
                             for (int c = 0; c < width; ++c) out(row, c) = static_cast<T>(values[c]);
                           });
    }
  }
}

template <class T>
bool Binding<T>::embeds() const {
  return std::any_of(state_->terms.begin(), state_->terms.end(), [](auto const& t) { return t.stages.embed; });
}

template <class T>
bool Binding<T>::reads_tokens() const {
  for (auto const& t : state_->terms)
    for (auto const& spec : t.stages.gates)
      if (spec.active && spec.weight_name && spec.input == GateInput::token) return true;
  return false;
}

namespace {
/// Row of a trained table for a position. Throws where the table has none.
std::int64_t table_row(std::string const& label, double position, int length) {
  expect(position == std::floor(position) && position >= 0, label, ": position ", position,
         " has no row: expected a whole number from 0");
  expect(position < length, label, ": position ", position, " is past its table of ", length,
         " rows; it was not trained there and has nothing to give: raise max_length and train again, or shorten the "
         "input");
  return static_cast<std::int64_t>(position);
}
}  // namespace

template <class T>
void Binding<T>::embed(Exec const& exec, View2<T> const& x) {
  State& s = *state_;
  int const count = s.tokens.count, width = x.extent_int(1);
  bool const shared = s.query_position.extent_int(0) == 1;
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    if (!s.terms[t].stages.embed) continue;
    Term const& term = position_->terms()[t];
    T const scale = static_cast<T>(term.encoding->token_scale(term.shape));
    int const length = term.encoding->table_length();
    if (length > 0)
      for (std::size_t n = 0; n < s.query_position.size(); ++n)
        table_row(term.label, s.query_position.data()[n], length);
    auto const rows = s.terms[t].rows;
    auto const table = length > 0 ? s.weights[s.owners[0][t].table] : View1<T>();
    auto const at = s.query_position;
    Kokkos::parallel_for("sextant::embed", Kokkos::RangePolicy<Exec>(exec, 0, x.extent(0)), [=](std::int64_t token) {
      std::int64_t const b = shared ? 0 : token / count, i = token % count;
      T const* row = length > 0 ? &table(static_cast<std::int64_t>(at(b, i)) * width) : &rows(b * count + i, 0);
      for (int c = 0; c < width; ++c) x(token, c) = scale * x(token, c) + row[c];
    });
  }
  exec.fence();
}

template <class T>
void Binding<T>::embed_backward(Exec const& exec, View2<T> const& grad) {
  State& s = *state_;
  int const count = s.tokens.count, width = grad.extent_int(1);
  bool const shared = s.query_position.extent_int(0) == 1;
  for (std::size_t t = s.terms.size(); t-- > 0;) {
    if (!s.terms[t].stages.embed) continue;
    Term const& term = position_->terms()[t];
    auto const at = s.query_position;
    if (term.encoding->table_length() > 0) {
      auto const out = s.gradients[s.owners[0][t].table];
      constexpr int block = 16;  // channels; tokens in order inside each, so repeated positions sum in a fixed order
      Kokkos::parallel_for("sextant::embed_backward", Kokkos::RangePolicy<Exec>(exec, 0, (width + block - 1) / block),
                           [=](std::int64_t n) {
                             int const end = std::min<int>(width, static_cast<int>(n + 1) * block);
                             for (std::size_t token = 0; token < grad.extent(0); ++token) {
                               auto const p = static_cast<std::int64_t>(at(shared ? 0 : token / count, token % count));
                               for (int c = static_cast<int>(n) * block; c < end; ++c)
                                 out(p * width + c) += grad(token, c);
                             }
                           });
    }
    T const scale = static_cast<T>(term.encoding->token_scale(term.shape));
    if (scale != T(1))
      Kokkos::parallel_for("sextant::embed_scale", Kokkos::RangePolicy<Exec>(exec, 0, grad.extent(0)),
                           [=](std::int64_t token) {
                             for (int c = 0; c < width; ++c) grad(token, c) *= scale;
                           });
  }
  exec.fence();
}

template <class T>
void Binding<T>::reserve(GateCache& cache, int batch, int capacity) const {
  if (cache.batch == batch && cache.capacity >= capacity &&
      cache.gates.size() == static_cast<std::size_t>(state_->gates))
    return;
  auto const old = cache;
  cache.batch = batch;
  cache.capacity = capacity;
  cache.gates.assign(state_->gates, {});
  for (std::size_t t = 0; t < state_->terms.size(); ++t)
    for (std::size_t g = 0; g < state_->terms[t].stages.gates.size(); ++g) {
      if (!state_->terms[t].stages.gates[g].active) continue;
      std::size_t const n = state_->terms[t].first_gate + g;
      int const heads = position_->terms()[t].heads;
      cache.gates[n].z = View3<double>("gate z", batch, heads, capacity);
      cache.gates[n].value = View3<double>("gate value", batch, heads, capacity);
      if (old.batch != batch || old.gates.size() <= n) continue;
      for (int b = 0; b < batch; ++b)
        for (int h = 0; h < heads; ++h)
          for (int i = 0; i < std::min(old.capacity, capacity); ++i) {
            cache.gates[n].z(b, h, i) = old.gates[n].z(b, h, i);
            cache.gates[n].value(b, h, i) = old.gates[n].value(b, h, i);
          }
    }
}

namespace {
/// The gate's own numbers in double, its projection normalised where the spec says so.
template <class T>
GateWork gate_work(Term const& term, GateSpec const& spec, int index, std::vector<double> weights,
                   View1<T> const* projection, View1<T> const* bias) {
  GateWork work;
  work.term = &term;
  work.spec = spec;
  work.index = index;
  work.divisor = spec.divisor > 0 ? spec.divisor : std::sqrt(static_cast<double>(term.shape.head_dim));
  work.weights = std::move(weights);
  work.weight_count = term.encoding->weight_count(term.shape);
  if (bias) work.bias = to_doubles(*bias);
  if (!projection) return work;
  work.projection = to_doubles(*projection);
  std::size_t const width = work.projection.size() / term.heads;
  work.norm.assign(term.heads, 1.0);
  for (int h = 0; spec.unit_weight && h < term.heads; ++h) {
    double* w = work.projection.data() + h * width;
    double square = 0;
    for (std::size_t c = 0; c < width; ++c) square += w[c] * w[c];
    work.norm[h] = std::max(std::sqrt(square), spec.unit_eps);
    for (std::size_t c = 0; c < width; ++c) w[c] /= work.norm[h];
  }
  return work;
}
}  // namespace

template <class T>
void Binding<T>::encode(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
                        GateCache& cache) {
  State& s = *state_;
  reserve(cache, s.tokens.batch, s.tokens.first + s.tokens.count);
  int const group = position_->shape().heads / position_->shape().kv_heads;
  for_each_gate(layer, [&](std::size_t t, std::size_t g, GateWork const& work) {
    gate_forward<T>(exec, work, gate_input<T const>(work.spec, *work.term, x, Heads<T const>(q), Heads<T const>(k)),
                    s.tokens, cache.gates[s.terms[t].first_gate + g]);
    exec.fence();
  });
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    if (!s.terms[t].stages.rotate) continue;
    form_table(exec, layer, t);
    Term const& term = position_->terms()[t];
    kernels::rotate<T>(exec, q, s.terms[t].table, span_of(term, 1));
    kernels::rotate<T>(exec, k, s.terms[t].table, span_of(term, group));
  }
  exec.fence();
}

template <class T>
std::vector<kernels::TileModifier<T>*> Binding<T>::modifiers(Exec const& exec, int layer, GateCache& cache,
                                                             bool gradient) {
  State& s = *state_;
  std::vector<kernels::TileModifier<T>*> chain;
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    auto& mine = s.terms[t];
    if (!mine.bias) continue;
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
    in.want_gradient = gradient;
    std::vector<GateRows> query_gradient, key_gradient;
    for (std::size_t g = 0; g < mine.stages.gates.size(); ++g) {
      auto& gate = cache.gates[mine.first_gate + g];
      auto const rows = [](View3<double> const& v, int from) {
        return v.size() == 0 ? GateRows{} : GateRows{v.data() + from, v.extent(1) * v.extent(2), v.extent(2)};
      };
      if (gradient && gate.value.size() > 0) {
        if (gate.grad.extent(2) != gate.value.extent(2) || gate.grad.extent(0) != gate.value.extent(0))
          gate.grad = View3<double>("gate gradient", gate.value.extent(0), gate.value.extent(1), gate.value.extent(2));
        else
          Kokkos::deep_copy(gate.grad, 0.0);
      }
      in.query_gates.push_back(rows(gate.value, s.tokens.first));
      in.key_gates.push_back(rows(gate.value, 0));
      query_gradient.push_back(rows(gate.grad, s.tokens.first));
      key_gradient.push_back(rows(gate.grad, 0));
    }
    mine.bias->prepare(exec, in);
    mine.bias->gradient_rows(std::move(query_gradient), std::move(key_gradient));
    chain.push_back(mine.bias.get());
  }
  return chain;
}

template <class T>
void Binding<T>::encode_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q,
                                 Heads<T> const& k, Heads<T> const& grad_q, Heads<T> const& grad_k,
                                 View2<T> const& grad_x, GateCache& cache) {
  State& s = *state_;
  expect(s.tokens.first == 0, "position: a backward pass needs the whole row, found a cache of ", s.tokens.first,
         " tokens before it");
  expect(s.gradients.size() == slots_.size(), "position: no gradient slices were attached");
  int const group = position_->shape().heads / position_->shape().kv_heads;
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    auto const& owner = s.owners[layer][t];
    if (!s.terms[t].bias || owner.weights < 0) continue;
    std::vector<double> grad(s.weights[owner.weights].size(), 0.0);
    s.terms[t].bias->finish(grad.data());
    add_to(s.gradients[owner.weights], grad);
  }
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    if (!s.terms[t].stages.rotate) continue;
    Term const& term = position_->terms()[t];
    form_table(exec, layer, t);
    rotary_backward(exec, layer, t, q, k, grad_q, grad_k);
    auto const& table = s.terms[t].table;
    kernels::rotate<T>(exec, grad_q, table, span_of(term, 1), true);
    kernels::rotate<T>(exec, grad_k, table, span_of(term, group), true);
    kernels::unrotate<T>(exec, q, table, span_of(term, 1), s.terms[t].table_factor);
    kernels::unrotate<T>(exec, k, table, span_of(term, group), s.terms[t].table_factor);
  }
  exec.fence();
  for_each_gate(layer, [&](std::size_t t, std::size_t g, GateWork const& work) {
    auto const& owner = s.owners[layer][t];
    auto const gradients = gate_backward<T>(
        exec, work, gate_input<T const>(work.spec, *work.term, x, Heads<T const>(q), Heads<T const>(k)),
        gate_input<T>(work.spec, *work.term, grad_x, grad_q, grad_k), s.tokens, cache.gates[s.terms[t].first_gate + g]);
    if (owner.projection[g] >= 0) add_to(s.gradients[owner.projection[g]], gradients.projection);
    if (owner.bias[g] >= 0) add_to(s.gradients[owner.bias[g]], gradients.bias);
    if (owner.weights >= 0) add_to(s.gradients[owner.weights], gradients.weights);
  });
}

template <class T>
template <class F>
void Binding<T>::for_each_gate(int layer, F&& f) const {
  State const& s = *state_;
  auto const slice = [&](int slot) { return slot < 0 ? nullptr : &s.weights[slot]; };
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    auto const& owner = s.owners[layer][t];
    auto const& specs = s.terms[t].stages.gates;
    for (std::size_t g = 0; g < specs.size(); ++g)
      if (specs[g].active)
        f(t, g,
          gate_work<T>(position_->terms()[t], specs[g], static_cast<int>(g), weights_of(layer, t),
                       slice(owner.projection[g]), slice(owner.bias[g])));
  }
}

template <class T>
Position::Frequencies Binding<T>::frequencies(int layer, int term) const {
  return position_->frequencies(position_->terms()[term], weights_of(layer, term));
}

template <class T>
std::vector<double> Binding<T>::weights_of(int layer, std::size_t term) const {
  int const slot = state_->owners[layer][term].weights;
  return slot < 0 ? state_->terms[term].constant : to_doubles(state_->weights[slot]);
}

template <class T>
kernels::RotationSpan Binding<T>::span_of(Term const& term, int group) const {
  return {.head_begin = term.head_begin / group,
          .heads = term.heads / group,
          .channel_begin = term.channel_begin,
          .interleaved = term.encoding->rotary(term.shape).layout == Layout::interleaved};
}

template <class T>
template <class U>
GateInputRows<U> Binding<T>::gate_input(GateSpec const& spec, Term const& term, View2<U> const& x, Heads<U> const& q,
                                        Heads<U> const& k) const {
  int const group = position_->shape().heads / position_->shape().kv_heads;
  switch (spec.input) {
    case GateInput::token:
      return rows_of<U>(x, state_->tokens.count);
    case GateInput::query:
      return rows_of<U>(q, term.head_begin, term.channel_begin, term.channels, 1);
    case GateInput::key:
      return rows_of<U>(k, term.head_begin, term.channel_begin, term.channels, group);
  }
  return {};
}

template <class T>
void Binding<T>::form_table(Exec const& exec, int layer, std::size_t term) {
  auto& mine = state_->terms[term];
  auto const wanted = position_->frequencies(position_->terms()[term], weights_of(layer, term));
  if (mine.table_fresh && mine.table_inv_freq == wanted.inv_freq) return;
  int const pairs = wanted.form.rotary_dim / 2;
  View2<double> inv_freq(uninitialized("inv_freq"), wanted.rows, pairs);
  std::copy(wanted.inv_freq.begin(), wanted.inv_freq.end(), inv_freq.data());
  kernels::form_rotation<T>(exec, mine.phase, inv_freq, wanted.attention_factor, wanted.form.orientation, mine.table);
  exec.fence();
  mine.table_inv_freq = wanted.inv_freq;
  mine.table_factor = wanted.attention_factor;
  mine.table_fresh = true;
}

template <class T>
void Binding<T>::rotary_backward(Exec const& exec, int layer, std::size_t term, Heads<T> const& q, Heads<T> const& k,
                                 Heads<T> const& grad_q, Heads<T> const& grad_k) {
  State& s = *state_;
  int const slot = s.owners[layer][term].weights;
  if (slot < 0) return;
  Term const& place = position_->terms()[term];
  std::vector<double> slope;
  auto const weights = weights_of(layer, term);
  auto const f = position_->frequencies(place, weights, &slope);
  int const group = position_->shape().heads / position_->shape().kv_heads;
  View2<double> grad("d inv_freq", f.rows, f.form.rotary_dim / 2);
  for (auto const& [x, g, share] : {std::tuple{q, grad_q, 1}, std::tuple{k, grad_k, group}})
    kernels::rotation_gradient<T>(exec, Heads<T const>(x), Heads<T const>(g), s.terms[term].phase,
                                  span_of(place, share), f.form.orientation, f.form.per_head, grad);
  exec.fence();
  std::vector<double> plain(slope.size()), out(weights.size(), 0.0);
  for (std::size_t n = 0; n < plain.size(); ++n) plain[n] = grad.data()[n] * slope[n];
  place.encoding->inv_freq_gradient(place.shape, weights.data(), plain.data(), out.data());
  add_to(s.gradients[slot], out);
}

template class Binding<float>;
template class Binding<double>;

}  // namespace sextant::encoding
