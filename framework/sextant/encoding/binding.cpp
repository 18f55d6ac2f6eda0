// A Binding's structure: which slots belong to which term and layer, and what one call's tokens are.
#include <sextant/base/error.hpp>
#include <sextant/encoding/binding_state.hpp>
#include <sextant/encoding/lengths.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sextant::encoding {
namespace {

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

/// Where each of a term's parameters goes, by its name within the term.
std::map<std::string, int*> places(Owner& owner, Stages const& stages, std::vector<ParameterInfo> const& tensors) {
  std::map<std::string, int*> out;
  owner.gates.resize(stages.gates.size());
  owner.features.resize(stages.features.size());
  owner.tensors.resize(tensors.size(), -1);
  for (std::size_t g = 0; g < stages.gates.size(); ++g) {
    if (stages.gates[g].weight_name) out[stages.gates[g].weight_name] = &owner.gates[g].projection;
    if (stages.gates[g].bias_name) out[stages.gates[g].bias_name] = &owner.gates[g].bias;
  }
  for (std::size_t f = 0; f < stages.features.size(); ++f) {
    std::string const name = stages.features[f].name;
    auto& mine = owner.features[f];
    out[name] = &mine.weight, out[name + "_down"] = &mine.down, out[name + "_up"] = &mine.up;
    out[name + "_conv"] = &mine.conv;
  }
  for (std::size_t n = 0; n < tensors.size(); ++n) out[tensors[n].name] = &owner.tensors[n];
  return out;
}

}  // namespace

template <class T>
Binding<T>::~Binding() = default;
template <class T>
Binding<T>::Binding(Binding&&) noexcept = default;

template <class T>
Binding<T>::Binding(std::shared_ptr<Position const> position, int layers)
    : position_(std::move(position)), state_(std::make_unique<State>()) {
  State& s = *state_;
  s.layers = layers;
  for (auto const& term : position_->terms()) {
    TermState t;
    t.stages = term.stages;
    t.bias = t.stages.bias ? term.encoding->template bias<T>(term.shape) : nullptr;
    for (int layer = 0; t.stages.transform && layer < layers; ++layer)
      t.transforms.push_back(term.encoding->template transform<T>(term.shape));
    t.rows = t.stages.rows ? term.encoding->template rows<T>(term.shape) : nullptr;
    t.constant = position_->initial_weights(term);
    t.first_gate = s.gates;
    t.first_feature = s.features;
    s.gates += static_cast<int>(t.stages.gates.size());
    s.features += static_cast<int>(t.stages.features.size());
    if (t.stages.transform) {
      t.lifted = term.encoding->lifted(term.shape);
      expect(t.lifted >= term.channels, term.label, ": a transform to ", t.lifted, " channels of ", term.channels,
             ", expected at least as many");
      t.extra_begin = position_->shape().head_dim + s.extra;
      s.extra += t.lifted - term.channels;
    }
    for (auto const& gate : t.stages.gates)
      expect(!gate.shared_by_heads || (!t.bias && !t.rows && gate.input == GateInput::token), term.label,
             ": a gate shared by heads can only be a phase, and reads the token");
    for (auto const* set : {&t.stages.branches})
      expect(*set <= 100, term.label, " has ", *set, " branches, expected at most 100");
    s.terms.push_back(std::move(t));
  }
  name_slots();
}

template <class T>
void Binding<T>::name_slots() {
  State& s = *state_;
  auto const& terms = position_->terms();
  s.owners.assign(s.layers, std::vector<Owner>(terms.size()));
  std::vector<std::vector<std::map<std::string, int*>>> by_name(s.layers);
  for (int l = 0; l < s.layers; ++l)
    for (std::size_t t = 0; t < terms.size(); ++t)
      by_name[l].push_back(places(s.owners[l][t], s.terms[t].stages, terms[t].encoding->tensors(terms[t].shape)));
  for (auto const& parameter : position_->parameters()) {
    auto const t = static_cast<std::size_t>(parameter.term);
    bool const per_layer = parameter.info.per_layer;
    for (int l = 0; l < (per_layer ? s.layers : 1); ++l) {
      if (per_layer && !active(l, t)) continue;
      int const slot = static_cast<int>(slots_.size());
      slots_.push_back(
          {(per_layer ? text("layers.", l, ".") : std::string()) + parameter.name, per_layer ? l : -1, &parameter});
      for (int layer = per_layer ? l : 0; layer < (per_layer ? l + 1 : s.layers); ++layer) {
        auto const known = by_name[layer][t].find(parameter.info.name);
        if (known != by_name[layer][t].end())
          *known->second = slot;
        else if (terms[t].encoding->table_length() > 0)
          s.owners[layer][t].table = slot;
        else
          s.owners[layer][t].weights = slot;
      }
    }
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
bool Binding<T>::active(int layer, std::size_t term) const {
  return position_->terms()[term].acts_in(layer);
}

template <class T>
int Binding<T>::branches(int layer) const {
  int most = 1;
  for (std::size_t t = 0; t < terms(); ++t)
    if (active(layer, t)) most = std::max(most, state_->terms[t].stages.branches);
  return most;
}
template <class T>
Term const* Binding<T>::only_branching(int layer) const {
  Term const* found = nullptr;
  for (std::size_t t = 0; t < terms(); ++t) {
    if (!active(layer, t) || state_->terms[t].stages.branches == 0) continue;
    if (found) return nullptr;
    found = &position_->terms()[t];
  }
  return found;
}
template <class T>
int Binding<T>::key_sets(int layer) const {
  Term const* const only = only_branching(layer);
  return only ? only->encoding->key_sets() : branches(layer);
}
template <class T>
int Binding<T>::key_set(int layer, int branch) const {
  Term const* const only = only_branching(layer);
  return only ? only->encoding->key_set(branch) : branch;
}
template <class T>
int Binding<T>::key_dim(int layer) const {
  for (std::size_t t = 0; t < terms(); ++t)
    if (active(layer, t) && state_->terms[t].stages.transform) return position_->shape().head_dim + state_->extra;
  return position_->shape().head_dim;
}
template <class T>
bool Binding<T>::apart(int layer) const {
  if (branches(layer) > 1 || key_sets(layer) > 1) return true;
  for (std::size_t t = 0; t < terms(); ++t)
    if (active(layer, t) && (state_->terms[t].stages.transform || position_->scales_queries(position_->terms()[t])))
      return true;
  return false;
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
  expect(tokens.coordinates.size() == 0 ||
             (tokens.coordinates.extent_int(1) == len &&
              (tokens.coordinates.extent_int(0) == 1 || tokens.coordinates.extent_int(0) == tokens.batch)),
         "position: coordinates are [", tokens.coordinates.extent(0), ", ", tokens.coordinates.extent(1), ", ",
         tokens.coordinates.extent(2), "], expected [", tokens.batch, " or 1, ", len, ", axes]");
  expect(
      tokens.length.size() == 0 || (tokens.length.extent_int(0) == tokens.batch && tokens.length.extent_int(1) == len),
      "position: lengths are [", tokens.length.extent(0), ", ", tokens.length.extent(1), "], expected [", tokens.batch,
      ", ", len, "]");
  View2<double> length;
  if (position_->follows_length())
    length = tokens.length.size() ? tokens.length : sequence_lengths(tokens.position, tokens.document, tokens.batch);
  bool const same_place = tokens.coordinates.size() == 0 && s.tokens.coordinates.size() == 0 &&
                          s.key_position.extent_int(0) > 0 && s.tokens.first == tokens.first &&
                          s.tokens.count == tokens.count && same(s.key_position, tokens.position) &&
                          same(s.length, length);
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
    s.length = View2<double>(uninitialized("length"), length.extent(0), length.extent(1));
    std::copy_n(length.data(), length.size(), s.length.data());
    note_circumstances();
  }
  if (same_place) return;
  for (std::size_t t = 0; t < terms(); ++t) {
    form_positions(t);
    if (s.terms[t].stages.embed && position_->terms()[t].encoding->table_length() == 0) form_embedding_rows(exec, t);
  }
}

template <class T>
void Binding<T>::note_circumstances() {
  State& s = *state_;
  auto const& kept = position_->kept();
  auto const at = s.query_position;
  int const first = s.tokens.first, count = s.tokens.count;
  int const rows = s.length.size() ? s.length.extent_int(0) : kept.empty() ? 0 : at.extent_int(0);
  s.circumstances.clear();
  s.circumstance_of = {};
  View2<int> const of("circumstance of token", rows, count);
  std::map<Circumstance, int> known;
  for (int b = 0; b < rows; ++b)
    for (int i = 0; i < count; ++i) {
      Circumstance here;
      if (s.length.size()) here.length = s.length(b, first + i);
      if (here.length == no_sequence) continue;  // padding turns as the first sequence does
      if (!kept.empty()) {
        auto const next = std::upper_bound(kept.begin(), kept.end(), at(at.extent(0) > 1 ? b : 0, i));
        here.position = next == kept.begin() ? 0 : *(next - 1);
      }
      auto const [found, fresh] = known.try_emplace(here, static_cast<int>(s.circumstances.size()));
      if (fresh) s.circumstances.push_back(here);
      of(b, i) = found->second;
    }
  if (s.circumstances.empty()) s.circumstances.emplace_back();
  if (s.circumstances.size() > 1) s.circumstance_of = of;
}

namespace {
/// Coordinates of new token i of row b along the axes that a term reads.
void coordinates_at(Tokens const& tokens, Term const& term, int axes, int b, int i, double* out) {
  int const at = tokens.first + i;
  if (axes > 1 && tokens.coordinates.size() > 0) {
    expect(tokens.coordinates.extent_int(2) == axes, term.label, " reads positions of ", axes, " axes, found ",
           tokens.coordinates.extent(2));
    for (int a = 0; a < axes; ++a) out[a] = tokens.coordinates(tokens.coordinates.extent(0) > 1 ? b : 0, at, a);
  } else {
    term.encoding->coordinates(tokens.position(tokens.position.extent(0) > 1 ? b : 0, at), out);
  }
  for (int a = 0; a < axes; ++a)
    expect(std::isfinite(out[a]), term.label, ": coordinate ", a, " of token ", at, " is ", out[a],
           ", expected a finite number");
}
}  // namespace

template <class T>
void Binding<T>::form_positions(std::size_t t) {
  auto& mine = state_->terms[t];
  Term const& term = position_->terms()[t];
  auto const& tokens = state_->tokens;
  int const rows = std::max(state_->query_position.extent_int(0), tokens.coordinates.extent_int(0));
  int const count = tokens.count, axes = mine.stages.axes;
  mine.tables_fresh = false;
  auto const at = state_->query_position;
  if (mine.stages.transform || (mine.stages.rotate && axes > 1)) {
    mine.coordinates = View3<double>(uninitialized("coordinates"), rows, count, axes);
    for (int b = 0; b < rows; ++b)
      for (int i = 0; i < count; ++i) coordinates_at(tokens, term, axes, b, i, &mine.coordinates(b, i, 0));
  }
  if (!mine.stages.rotate) return;
  mine.turns.clear();
  if (term.encoding->rotary(term.shape).phase_gate >= 0) return mine.turns.resize(1);  // formed layer by layer
  if (axes > 1) {
    expect(mine.stages.branches == 0, term.label, ": branches and several axes do not go together");
    mine.turns.resize(1);
    mine.turns[0].phase = View4<double>(mine.coordinates.data(), rows, 1, count, axes);
    return;
  }
  auto const turn = [&](auto&& phase) {
    View4<double> out(uninitialized("phase"), at.extent(0), 1, count, 1);
    for (int b = 0; b < at.extent_int(0); ++b)
      for (int i = 0; i < count; ++i) out(b, 0, i, 0) = phase(at(b, i));
    mine.turns.push_back({out, {}});
  };
  auto const& encoding = *term.encoding;
  auto const scaled = [&](double phase) {
    return position_->bends_phases() ? position_->scaled_phase(term, phase) : phase;
  };
  if (mine.stages.branches == 0) return turn([&](double p) { return scaled(encoding.phase(p)); });
  for (int n = 0; n < mine.stages.branches; ++n) turn([&](double p) { return scaled(encoding.query_phase(n, p)); });
  for (int n = 0; n < encoding.key_sets(); ++n) turn([&](double p) { return scaled(encoding.key_phase(n, p)); });
}

template <class T>
bool Binding<T>::reads_tokens() const {
  for (auto const& t : state_->terms) {
    if (!t.stages.features.empty()) return true;
    for (auto const& spec : t.stages.gates)
      if (spec.active && spec.weight_name && spec.input == GateInput::token) return true;
  }
  return false;
}

template <class T>
void Binding<T>::reserve(TokenState<T>& state, int layer, int batch, int capacity) const {
  State const& s = *state_;
  bool const counted = state.gates.size() == static_cast<std::size_t>(s.gates) &&
                       state.features.size() == static_cast<std::size_t>(s.features);
  if (counted && state.batch == batch && state.capacity >= capacity) return;
  auto const old = state;
  bool const keeps = counted && old.batch == batch;
  state.batch = batch;
  state.capacity = capacity;
  state.gates.assign(s.gates, {});
  state.features.assign(s.features, {});
  auto const kept = [&](auto const& from, auto const& to) {  // [batch, heads, capacity (, width)]
    if (!keeps || from.size() == 0) return;
    std::size_t const run = from.size() / (from.extent(0) * from.extent(1)),
                      wide = to.size() / (to.extent(0) * to.extent(1));
    for (std::size_t row = 0; row < from.extent(0) * from.extent(1); ++row)
      std::copy_n(from.data() + row * run, std::min(run, wide), to.data() + row * wide);
  };
  for (std::size_t t = 0; t < terms(); ++t) {
    if (!active(layer, t)) continue;
    auto const& stages = s.terms[t].stages;
    int const heads = position_->terms()[t].heads;
    for (std::size_t g = 0; g < stages.gates.size(); ++g) {
      if (!stages.gates[g].active) continue;
      std::size_t const n = s.terms[t].first_gate + g;
      int const own = stages.gates[g].shared_by_heads ? 1 : heads;
      state.gates[n].z = View3<double>("gate z", batch, own, capacity);
      state.gates[n].value = View3<double>("gate value", batch, own, capacity);
      if (!keeps) continue;
      kept(old.gates[n].z, state.gates[n].z);
      kept(old.gates[n].value, state.gates[n].value);
    }
    for (std::size_t f = 0; f < stages.features.size(); ++f) {
      std::size_t const n = s.terms[t].first_feature + f;
      int const width = stages.features[f].width;
      state.features[n].value = View4<T>("feature", batch, heads, capacity, width);
      if (stages.features[f].taps > 0) state.features[n].raw = View4<T>("feature raw", batch, heads, capacity, width);
      if (!keeps) continue;
      kept(old.features[n].value, state.features[n].value);
      kept(old.features[n].raw, state.features[n].raw);
    }
  }
}

template <class T>
Position::Frequencies Binding<T>::frequencies(int layer, int term, double length, double position) const {
  return position_->frequencies(position_->terms()[term], weights_of(layer, term), nullptr, length, position);
}

template <class T>
bool Binding<T>::turns_alike(double before, double after) const {
  if (before == after || !position_->follows_length()) return true;
  for (std::size_t t = 0; t < terms(); ++t)
    for (int layer = 0; layer < state_->layers; ++layer) {
      if (!active(layer, t) || !state_->terms[t].stages.rotate) continue;
      int const term = static_cast<int>(t);
      auto const alike = [&](double position) {
        return frequencies(layer, term, before, position).turns_as(frequencies(layer, term, after, position));
      };
      auto const& kept = position_->kept();
      if (!alike(Position::far) || (!kept.empty() && !alike(0)) || !std::all_of(kept.begin(), kept.end(), alike))
        return false;
      if (state_->owners[layer][t].weights < 0) break;  // the same in every layer
    }
  return true;
}

template <class T>
std::vector<double> Binding<T>::weights_of(int layer, std::size_t term) const {
  int const slot = state_->owners[layer][term].weights;
  return slot < 0 ? state_->terms[term].constant : to_doubles(state_->weights[slot]);
}

template <class T>
Tensors Binding<T>::tensors_of(int layer, std::size_t term) const {
  Tensors out;
  for (int slot : state_->owners[layer][term].tensors) out.push_back(to_doubles(state_->weights.at(slot)));
  return out;
}

template class Binding<float>;
template class Binding<double>;

}  // namespace sextant::encoding
