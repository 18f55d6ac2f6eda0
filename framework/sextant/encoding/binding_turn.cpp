// Turns of query and key, and maps of them into copies, forward and backward.
#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/encoding/binding_state.hpp>

#include <algorithm>

namespace sextant::encoding {
namespace {
/// Channels [0, columns) of `from` into `to`; zeros behind them.
template <class T>
void copy_heads(Exec const& exec, Heads<T> const& from, View4<T> const& to) {
  int const heads = from.extent_int(1), len = from.extent_int(2), columns = from.extent_int(3);
  int const wide = to.extent_int(3);
  launch_on_host(exec, "sextant::copy_heads", static_cast<std::int64_t>(from.extent(0)) * heads,
                 std::int64_t(len) * wide, [=](std::int64_t row) {
                   int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
                   for (int i = 0; i < len; ++i) {
                     T const* source = &from(b, h, i, 0);
                     T* target = &to(b, h, i, 0);
                     for (int c = 0; c < columns; ++c) target[c] = source[c];
                     for (int c = columns; c < wide; ++c) target[c] = 0;
                   }
                 });
}

/// The channels of a lifted head lie in two runs: those that replace the term's own, and the rest.
struct Lift {
  int channel_begin, channels, extra_begin, lifted;
  template <class T>
  void spread(T const* packed, int count, T* to, std::ptrdiff_t stride) const {
    for (int i = 0; i < count; ++i, packed += lifted, to += stride) {
      std::copy_n(packed, channels, to + channel_begin);
      std::copy_n(packed + channels, lifted - channels, to + extra_begin);
    }
  }
  template <class T>
  void gather(T const* from, std::ptrdiff_t stride, int count, T* packed) const {
    for (int i = 0; i < count; ++i, packed += lifted, from += stride) {
      std::copy_n(from + channel_begin, channels, packed);
      std::copy_n(from + extra_begin, lifted - channels, packed + channels);
    }
  }
};
template <class T>
std::ptrdiff_t row_stride(Heads<T> const& x) {
  return static_cast<std::ptrdiff_t>(x.stride(2));
}
}  // namespace

template <class T>
kernels::RotationSpan Binding<T>::span_of(Term const& term, Side side) const {
  int const share = side == Side::query ? 1 : group();
  return {.head_begin = term.head_begin / share,
          .heads = term.heads / share,
          .channel_begin = term.channel_begin,
          .interleaved = term.encoding->rotary(term.shape).layout == Layout::interleaved};
}

template <class T>
typename Binding<T>::TermSpectra Binding<T>::spectra_of(int layer, std::size_t term, bool slope) const {
  TermSpectra out;
  Term const& place = position_->terms()[term];
  auto const weights = weights_of(layer, term);
  for (auto const& [length, at] : state_->circumstances) {
    std::vector<double> derivative;
    auto found = position_->frequencies(place, weights, slope ? &derivative : nullptr, length, at);
    auto const known = std::find_if(out.each.begin(), out.each.end(), [&](auto const& f) { return f.turns_as(found); });
    out.of_circumstance.push_back(static_cast<int>(known - out.each.begin()));
    if (known != out.each.end()) continue;
    out.each.push_back(std::move(found));
    if (slope) out.slope.push_back(std::move(derivative));
  }
  return out;
}

template <class T>
kernels::Spectra Binding<T>::arrays_of(TermSpectra const& spectra) const {
  auto const& first = spectra.each.front();
  std::size_t const n = spectra.each.size();
  kernels::Spectra out;
  out.inv_freq = View4<double>(uninitialized("inv_freq"), n, first.rows, first.form.axes, first.form.rotary_dim / 2);
  out.factor = View1<double>(uninitialized("attention factor"), n);
  out.format = first.format;
  double* at = out.inv_freq.data();
  for (std::size_t k = 0; k < n; ++k) {
    at = std::copy(spectra.each[k].inv_freq.begin(), spectra.each[k].inv_freq.end(), at);
    out.factor(k) = spectra.each[k].attention_factor;
  }
  auto const which = state_->circumstance_of;
  if (n == 1 || which.size() == 0) return out;
  out.of_token = View2<int>(uninitialized("spectrum of token"), which.extent(0), which.extent(1));
  for (std::size_t k = 0; k < which.size(); ++k) out.of_token.data()[k] = spectra.of_circumstance[which.data()[k]];
  return out;
}

template <class T>
void Binding<T>::form_tables(Exec const& exec, int layer, std::size_t term, TokenState<T> const& state) {
  auto& mine = state_->terms[term];
  Term const& place = position_->terms()[term];
  bool const trained = state_->owners[layer][term].weights >= 0;
  if (mine.tables_fresh && !trained && mine.formed.form().phase_gate < 0) return;  // as for the layer before
  TermSpectra wanted = spectra_of(layer, term, false);
  int const gate = wanted.form().phase_gate;
  if (gate < 0 && mine.tables_fresh && mine.formed.turns_as(wanted)) return;
  if (gate >= 0) {
    auto const value = state.gates.at(mine.first_gate + gate).value;
    int const batch = state_->tokens.batch, count = state_->tokens.count, first = state_->tokens.first;
    expect(value.extent(1) == 1 || group() == 1, place.label,
           ": a phase per head needs as many key heads as query heads, found ", group(), " query heads a key head");
    View4<double> const phase(uninitialized("phase"), batch, value.extent(1), count, 1);
    for (int b = 0; b < batch; ++b)
      for (std::size_t h = 0; h < value.extent(1); ++h)
        for (int i = 0; i < count; ++i) phase(b, h, i, 0) = value(b, h, first + i);
    mine.turns.front().phase = phase;
  }
  mine.spectra = arrays_of(wanted);
  for (auto& turn : mine.turns)
    kernels::form_rotation<T>(exec, turn.phase, mine.spectra, wanted.form().orientation, turn.table);
  exec.fence();
  mine.formed = std::move(wanted);
  mine.tables_fresh = true;
}

template <class T>
void Binding<T>::turn_all(Exec const& exec, int layer, Encoded<T> const& x, bool inverse) {
  Term const* const only = only_branching(layer);
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = state_->terms[t];
    if (!active(layer, t) || !mine.stages.rotate) continue;
    Term const& term = position_->terms()[t];
    int const branches = std::max(mine.stages.branches, 1);
    for (int n = 0; n < static_cast<int>(x.query.size()) && n < branches; ++n)
      kernels::rotate<T>(exec, x.query[n], mine.turn_of(Side::query, n).table, span_of(term, Side::query), inverse);
    for (int n = 0; n < static_cast<int>(x.key.size()) && n < (only ? 100 : branches); ++n) {
      if (!only || only == &term)
        kernels::rotate<T>(exec, x.key[n], mine.turn_of(Side::key, only ? n : term.encoding->key_set(n)).table,
                           span_of(term, Side::key), inverse);
      else if (n == 0)
        kernels::rotate<T>(exec, x.key[n], mine.turn_of(Side::key, 0).table, span_of(term, Side::key), inverse);
    }
  }
  exec.fence();
}

template <class T>
Term const* Binding<T>::only_turning(int layer) const {
  Term const* found = nullptr;
  for (std::size_t t = 0; t < terms(); ++t) {
    auto const& stages = state_->terms[t].stages;
    if (!active(layer, t)) continue;
    if (stages.transform || (found && stages.rotate)) return nullptr;
    if (stages.rotate) found = &position_->terms()[t];
  }
  Term const* const branching = only_branching(layer);
  bool const sole = branching ? branching == found : branches(layer) == 1 && key_sets(layer) == 1;
  return sole ? found : nullptr;
}

template <class T>
void Binding<T>::prepare_transform(Exec const& exec, int layer, std::size_t t, bool gradient) {
  auto& mine = state_->terms[t];
  Term const& term = position_->terms()[t];
  typename Transform<T>::Inputs in;
  in.batch = state_->tokens.batch;
  in.count = state_->tokens.count;
  in.coordinates = mine.coordinates;
  in.heads = term.heads;
  in.kv_heads = term.heads / group();
  in.channels = term.channels;
  in.first_head = term.first_head;
  in.tensors = tensors_of(layer, t);
  in.want_gradient = gradient;
  mine.transforms[layer]->prepare(exec, in);
}

template <class T>
template <class F>
void Binding<T>::for_mapped_heads(Exec const& exec, std::size_t t, Side side, F&& f) {
  Term const& term = position_->terms()[t];
  int const share = side == Side::query ? 1 : group(), heads = term.heads / share, begin = term.head_begin / share;
  launch_on_host(exec, "sextant::map_heads", static_cast<std::int64_t>(state_->tokens.batch) * heads,
                 16 * std::int64_t(state_->tokens.count) * term.channels, [&](std::int64_t row) {
                   int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
                   f(b, h, begin + h);
                 });
  exec.fence();
}

template <class T>
void Binding<T>::map_transforms(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k,
                                Encoded<T> const& out) {
  int const count = state_->tokens.count;
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = state_->terms[t];
    if (!active(layer, t) || !mine.stages.transform) continue;
    prepare_transform(exec, layer, t, false);
    Term const& term = position_->terms()[t];
    Lift const lift{term.channel_begin, term.channels, mine.extra_begin, mine.lifted};
    for (Side side : {Side::query, Side::key}) {
      auto const& from = side == Side::query ? q : k;
      auto const& to = side == Side::query ? out.query.front() : out.key.front();
      for_mapped_heads(exec, t, side, [&](int b, int h, int head) {
        std::vector<T> packed(static_cast<std::size_t>(count) * lift.lifted);
        mine.transforms[layer]->forward(side, b, h, &from(b, head, 0, 0) + term.channel_begin, row_stride(from),
                                        packed.data(), lift.lifted);
        lift.spread(packed.data(), count, &to(b, head, 0, 0), row_stride(to));
      });
    }
  }
}

template <class T>
void Binding<T>::map_transforms_backward(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k,
                                         Encoded<T> const& gradients, Heads<T> const& grad_q, Heads<T> const& grad_k) {
  int const count = state_->tokens.count;
  for (std::size_t t = 0; t < terms(); ++t) {
    auto& mine = state_->terms[t];
    if (!active(layer, t) || !mine.stages.transform) continue;
    prepare_transform(exec, layer, t, true);
    Term const& term = position_->terms()[t];
    Lift const lift{term.channel_begin, term.channels, mine.extra_begin, mine.lifted};
    for (Side side : {Side::query, Side::key}) {
      auto const& plain = side == Side::query ? q : k;
      auto const& from = side == Side::query ? gradients.query.front() : gradients.key.front();
      auto const& to = side == Side::query ? grad_q : grad_k;
      for_mapped_heads(exec, t, side, [&](int b, int h, int head) {
        std::vector<T> packed(static_cast<std::size_t>(count) * lift.lifted);
        lift.gather(&from(b, head, 0, 0), row_stride(from), count, packed.data());
        mine.transforms[layer]->backward(side, b, h, &plain(b, head, 0, 0) + term.channel_begin, row_stride(plain),
                                         packed.data(), lift.lifted, &to(b, head, 0, 0) + term.channel_begin,
                                         row_stride(to));
      });
    }
    auto const& owner = state_->owners[layer][t];
    Tensors sums;
    for (int slot : owner.tensors) sums.emplace_back(state_->weights[slot].size(), 0.0);
    mine.transforms[layer]->finish(sums);
    for (std::size_t n = 0; n < sums.size(); ++n) add_to(state_->gradients[owner.tensors[n]], sums[n]);
  }
}

template <class T>
void Binding<T>::scale_queries(Exec const& exec, int layer, std::vector<Heads<T>> const& queries) {
  auto const at = state_->query_position;
  int const count = state_->tokens.count;
  for (std::size_t t = 0; t < terms(); ++t) {
    Term const& term = position_->terms()[t];
    if (!active(layer, t) || !position_->scales_queries(term)) continue;
    std::vector<T> factor(at.size());
    for (std::size_t n = 0; n < factor.size(); ++n)
      factor[n] = static_cast<T>(position_->query_scale(term, layer, at.data()[n]));
    for (auto const& query : queries)
      for_mapped_heads(exec, t, Side::query, [&](int b, int, int head) {
        T const* const row = factor.data() + (at.extent(0) > 1 ? b * count : 0);
        for (int i = 0; i < count; ++i) {
          T* const x = &query(b, head, i, 0);
          for (int c = 0; c < query.extent_int(3); ++c) x[c] *= row[i];
        }
      });
  }
}

template <class T>
Encoded<T> Binding<T>::map_apart(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k,
                                 TokenState<T>& state) {
  int const batch = q.extent_int(0), count = q.extent_int(2), width = key_dim(layer);
  auto const room = [&](std::vector<View4<T>>& arrays, int sets, int heads) {
    bool fits = static_cast<int>(arrays.size()) == sets;
    for (auto const& a : arrays)
      fits = fits && a.extent_int(0) == batch && a.extent_int(1) == heads && a.extent_int(2) == count &&
             a.extent_int(3) == width;
    if (fits) return;
    arrays.clear();
    for (int n = 0; n < sets; ++n) arrays.emplace_back(uninitialized("mapped heads"), batch, heads, count, width);
  };
  room(state.query, branches(layer), q.extent_int(1));
  room(state.key, key_sets(layer), k.extent_int(1));
  Encoded<T> out;
  for (auto const& x : state.query) out.query.emplace_back(x);
  for (auto const& x : state.key) out.key.emplace_back(x);
  if (Term const* const term = only_turning(layer)) {  // one pass over memory instead of two
    auto& mine = state_->terms[static_cast<std::size_t>(term - position_->terms().data())];
    auto const turn = [&](Side side, Heads<T> const& from, std::vector<Heads<T>> const& to) {
      for (int n = 0; n < static_cast<int>(to.size()); ++n)
        kernels::rotate_into<T>(exec, from, to[n], mine.turn_of(side, n).table, span_of(*term, side));
    };
    turn(Side::query, q, out.query), turn(Side::key, k, out.key);
    exec.fence();
  } else {
    for (auto const& x : state.query) copy_heads(exec, q, x);
    for (auto const& x : state.key) copy_heads(exec, k, x);
    exec.fence();
    map_transforms(exec, layer, q, k, out);
    turn_all(exec, layer, out, false);
  }
  scale_queries(exec, layer, out.query);
  return out;
}

template <class T>
Encoded<T> Binding<T>::gradients(int layer, Heads<T> const& grad_q, Heads<T> const& grad_k) {
  if (!apart(layer)) return {{grad_q}, {grad_k}};
  State& s = *state_;
  int const width = key_dim(layer), sets = branches(layer);
  auto const room = [&](std::vector<View4<T>>& arrays, Heads<T> const& like) {
    for (auto const& a : arrays)
      if (a.extent(0) != like.extent(0) || a.extent(1) != like.extent(1) || a.extent(2) != like.extent(2) ||
          a.extent_int(3) != width) {
        arrays.clear();
        break;
      }
    while (static_cast<int>(arrays.size()) < sets)
      arrays.emplace_back(uninitialized("mapped gradient"), like.extent(0), like.extent(1), like.extent(2), width);
  };
  room(s.grad_query, grad_q);
  room(s.grad_key, grad_k);
  Encoded<T> out;
  for (int n = 0; n < sets; ++n) {
    out.query.emplace_back(s.grad_query[n]);
    out.key.emplace_back(s.grad_key[n]);
  }
  return out;
}

#define SEXTANT_INSTANTIATE(T)                                                                                   \
  template kernels::RotationSpan Binding<T>::span_of(Term const&, Side) const;                                   \
  template typename Binding<T>::TermSpectra Binding<T>::spectra_of(int, std::size_t, bool) const;                \
  template void Binding<T>::form_tables(Exec const&, int, std::size_t, TokenState<T> const&);                    \
  template Term const* Binding<T>::only_turning(int) const;                                                      \
  template void Binding<T>::turn_all(Exec const&, int, Encoded<T> const&, bool);                                 \
  template void Binding<T>::map_transforms_backward(Exec const&, int, Heads<T> const&, Heads<T> const&,          \
                                                    Encoded<T> const&, Heads<T> const&, Heads<T> const&);        \
  template void Binding<T>::scale_queries(Exec const&, int, std::vector<Heads<T>> const&);                       \
  template Encoded<T> Binding<T>::map_apart(Exec const&, int, Heads<T> const&, Heads<T> const&, TokenState<T>&); \
  template Encoded<T> Binding<T>::gradients(int, Heads<T> const&, Heads<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::encoding
