#include "encoding/rig.hpp"

#include <sextant/base/philox.hpp>

#include <cmath>

namespace sextant::test {
namespace {
using encoding::GateCache;

template <class V>
V random(std::string const& name, V const& view, double scale = 1) {
  Stream const stream(20, name);
  for (std::size_t i = 0; i < view.size(); ++i) view.data()[i] = scale * stream.normal(i);
  return view;
}
template <class V>
std::vector<double> numbers(V const& view) {
  return {view.data(), view.data() + view.size()};
}
View4<double> copy(View4<double> const& from) {
  View4<double> to("copy", from.extent(0), from.extent(1), from.extent(2), from.extent(3));
  Kokkos::deep_copy(to, from);
  return to;
}
Heads<double> heads(View4<double> const& v) { return Heads<double>(v); }
/// Tokens [first, first + count) of every head.
View4<double> slice(View4<double> const& from, int first, int count) {
  View4<double> to("slice", from.extent(0), from.extent(1), count, from.extent(3));
  for (std::size_t b = 0; b < to.extent(0); ++b)
    for (std::size_t h = 0; h < to.extent(1); ++h)
      for (int i = 0; i < count; ++i)
        for (std::size_t c = 0; c < to.extent(3); ++c) to(b, h, i, c) = from(b, h, first + i, c);
  return to;
}
void put(View4<double> const& part, View4<double> const& into, int first) {
  for (std::size_t b = 0; b < part.extent(0); ++b)
    for (std::size_t h = 0; h < part.extent(1); ++h)
      for (std::size_t i = 0; i < part.extent(2); ++i)
        for (std::size_t c = 0; c < part.extent(3); ++c) into(b, h, first + i, c) = part(b, h, i, c);
}
encoding::Shape shape_of(Setting const& s) {
  return {.heads = s.heads, .kv_heads = s.kv_heads, .head_dim = s.head_dim, .model_dim = s.model_dim};
}
}  // namespace

encoding::PositionChoice block(std::string const& name, encoding::Options options) {
  return {{{name, std::move(options), {}}}, {}, 0};
}
encoding::PositionChoice sum(std::vector<encoding::Choice> encodings) { return {std::move(encodings), {}, 0}; }
encoding::PositionChoice scaled(encoding::Choice encoding, encoding::Choice scaling, int trained_length) {
  return {{std::move(encoding)}, {std::move(scaling)}, trained_length};
}

Rig::Rig(Setting given)
    : setting(std::move(given)),
      position(std::make_shared<encoding::Position const>(setting.choice, encoding::Registry::global(),
                                                          shape_of(setting), setting.target_length)),
      q(random("q", View4<double>("q", setting.batch, setting.heads, setting.length, setting.head_dim))),
      k(random("k", View4<double>("k", setting.batch, setting.kv_heads, setting.length, setting.head_dim))),
      v(random("v", View4<double>("v", setting.batch, setting.kv_heads, setting.length, setting.value_dim))),
      x(random("x", View2<double>("x", setting.batch * setting.length, setting.model_dim))),
      binding(position, setting.layers),
      ids_("ids", setting.positions.empty() ? 1 : setting.positions.size(), setting.length),
      weight_out_(
          random("weight out", View4<double>("wo", setting.batch, setting.heads, setting.length, setting.value_dim))),
      weight_x_(random("weight x", View2<double>("wx", setting.batch * setting.length, setting.model_dim))) {
  for (std::size_t b = 0; b < ids_.extent(0); ++b)
    for (int i = 0; i < setting.length; ++i) ids_(b, i) = setting.positions.empty() ? i : setting.positions[b][i];
  if (!setting.documents.empty()) {
    documents_ = View2<int>("documents", setting.batch, setting.length);
    for (int b = 0; b < setting.batch; ++b)
      for (int i = 0; i < setting.length; ++i) documents_(b, i) = setting.documents[b][i];
  }
  for (auto const& slot : binding.slots()) {
    Stream const start(7, slot.name), nudge(8, slot.name);
    std::size_t const n = slot.parameter->info.size();
    View1<double> w(slot.name, n);
    for (std::size_t i = 0; i < n; ++i) w(i) = slot.initial(start, i) + 0.2 * nudge.normal(i);
    parameters.push_back(w);
    gradients.emplace_back("gradient", n);
  }
  binding.attach(parameters, gradients);
}

void Rig::begin(int first, int count) {
  encoding::Tokens tokens;
  tokens.batch = setting.batch;
  tokens.first = first;
  tokens.count = count;
  tokens.position = View2<double>("ids", ids_.extent(0), first + count);
  for (std::size_t b = 0; b < ids_.extent(0); ++b)
    for (int i = 0; i < first + count; ++i) tokens.position(b, i) = ids_(b, i);
  if (documents_.size()) {
    tokens.document = View2<int>("documents", setting.batch, first + count);
    for (int b = 0; b < setting.batch; ++b)
      for (int i = 0; i < first + count; ++i) tokens.document(b, i) = documents_(b, i);
  }
  binding.begin(Exec(), tokens);
}

Rig::Turned Rig::encode() {
  begin(0, setting.length);
  GateCache cache;
  Turned out{copy(q), copy(k)};
  binding.encode(Exec(), 0, View2<double const>(x), heads(out.q), heads(out.k), cache);
  return out;
}

kernels::AttentionInput<double> Rig::input(Turned const& turned, GateCache& cache, bool gradient) {
  kernels::AttentionInput<double> in;
  in.query = Heads<double const>(heads(turned.q));
  in.key = Heads<double const>(heads(turned.k));
  in.value = Heads<double const>(heads(v));
  in.query_position = binding.query_position();
  in.key_position = binding.key_position();
  in.mask.causal = setting.causal;
  in.mask.query_document = in.mask.key_document = documents_;
  in.modifiers = binding.modifiers(Exec(), 0, cache, gradient);
  return in;
}

std::vector<double> Rig::logits() { return logits_at(1 / std::sqrt(setting.head_dim)); }

std::vector<double> Rig::logits_at(double scale) {
  begin(0, setting.length);
  GateCache cache;
  Turned const turned{copy(q), copy(k)};
  binding.encode(Exec(), 0, View2<double const>(x), heads(turned.q), heads(turned.k), cache);
  auto const chain = binding.modifiers(Exec(), 0, cache, false);
  auto const at = binding.query_position();
  int const n = setting.length, group = setting.heads / setting.kv_heads;
  std::vector<double> out;
  for (int b = 0; b < setting.batch; ++b)
    for (int h = 0; h < setting.heads; ++h)
      for (int i = 0; i < n; ++i) {
        std::vector<double> row(n, 0.0);
        for (int j = 0; j < n; ++j)
          for (int c = 0; c < setting.head_dim; ++c)
            row[j] += scale * turned.q(b, h, i, c) * turned.k(b, h / group, j, c);
        double const* ids = &at(at.extent(0) > 1 ? b : 0, 0);
        for (auto const* link : chain) link->forward({b, h, i, 0, 1, n, row.data(), n, ids + i, ids});
        out.insert(out.end(), row.begin(), row.end());
      }
  return out;
}

std::vector<double> Rig::attend() {
  begin(0, setting.length);
  GateCache cache;
  Turned const turned{copy(q), copy(k)};
  binding.encode(Exec(), 0, View2<double const>(x), heads(turned.q), heads(turned.k), cache);
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  reference::attention_forward<double>(input(turned, cache, false), heads(out),
                                       View3<double>("lse", setting.batch, setting.heads, setting.length));
  return numbers(out);
}

std::vector<double> Rig::attend_in_chunks(int size) {
  GateCache cache;
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  View4<double> keys("keys", setting.batch, setting.kv_heads, setting.length, setting.head_dim);
  kernels::AttentionWorkspace workspace;
  for (int first = 0; first < setting.length; first += size) {
    int const count = std::min(size, setting.length - first), seen = first + count;
    begin(first, count);
    Turned const turned{slice(q, first, count), slice(k, first, count)};
    View2<double> tokens("x", setting.batch * count, setting.model_dim);
    for (int b = 0; b < setting.batch; ++b)
      for (int i = 0; i < count; ++i)
        for (int c = 0; c < setting.model_dim; ++c) tokens(b * count + i, c) = x(b * setting.length + first + i, c);
    binding.encode(Exec(), 0, View2<double const>(tokens), heads(turned.q), heads(turned.k), cache);
    put(turned.k, keys, first);
    auto in = input({turned.q, slice(keys, 0, seen)}, cache, false);
    View4<double> const value = slice(v, 0, seen);
    in.value = Heads<double const>(heads(value));
    if (documents_.size()) {
      in.mask.query_document = View2<int>("documents", setting.batch, count);
      in.mask.key_document = View2<int>("documents", setting.batch, seen);
      for (int b = 0; b < setting.batch; ++b) {
        for (int i = 0; i < count; ++i) in.mask.query_document(b, i) = documents_(b, first + i);
        for (int i = 0; i < seen; ++i) in.mask.key_document(b, i) = documents_(b, i);
      }
    }
    View4<double> part("part", setting.batch, setting.heads, count, setting.value_dim);
    kernels::attention_forward<double>(Exec(), in, heads(part),
                                       View3<double>("lse", setting.batch, setting.heads, count), workspace);
    put(part, out, first);
  }
  return numbers(out);
}

std::vector<double> Rig::embed() {
  begin(0, setting.length);
  View2<double> y("y", x.extent(0), x.extent(1));
  Kokkos::deep_copy(y, x);
  binding.embed(Exec(), y);
  return numbers(y);
}

double Rig::loss() {
  double sum = 0;
  auto const out = attend(), y = embed();
  for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * weight_out_.data()[i];
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * weight_x_.data()[i];
  return sum;
}

Rig::Slopes Rig::analytic() {
  for (auto const& g : gradients) Kokkos::deep_copy(g, 0.0);
  begin(0, setting.length);
  GateCache cache;
  Turned const turned{copy(q), copy(k)};
  binding.encode(Exec(), 0, View2<double const>(x), heads(turned.q), heads(turned.k), cache);
  auto const in = input(turned, cache, true);
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  View3<double> lse("lse", setting.batch, setting.heads, setting.length);
  reference::attention_forward<double>(in, heads(out), lse);
  auto const like = [](View4<double> const& t) {
    return View4<double>("grad", t.extent(0), t.extent(1), t.extent(2), t.extent(3));
  };
  View4<double> const gq = like(q), gk = like(k), gv = like(v);
  reference::attention_backward<double>(in, Heads<double const>(heads(out)), lse,
                                        Heads<double const>(heads(weight_out_)), heads(gq), heads(gk), heads(gv));
  View2<double> gx("gx", x.extent(0), x.extent(1));
  binding.encode_backward(Exec(), 0, View2<double const>(x), heads(turned.q), heads(turned.k), heads(gq), heads(gk), gx,
                          cache);
  View2<double> embedded("d y", x.extent(0), x.extent(1));
  Kokkos::deep_copy(embedded, weight_x_);
  binding.embed_backward(Exec(), embedded);
  for (std::size_t i = 0; i < gx.size(); ++i) gx.data()[i] += embedded.data()[i];
  Slopes slopes{numbers(gq), numbers(gk), numbers(gx), {}};
  for (auto const& g : gradients) slopes.parameters.push_back(numbers(g));
  return slopes;
}

Rig::Slopes Rig::numeric(double step) {
  auto const over = [&](double* data, std::size_t n) {
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) {
      double const kept = data[i];
      data[i] = kept + step;
      double const up = loss();
      data[i] = kept - step;
      double const down = loss();
      data[i] = kept;
      out.push_back((up - down) / (2 * step));
    }
    return out;
  };
  Slopes slopes{over(q.data(), q.size()), over(k.data(), k.size()), over(x.data(), x.size()), {}};
  for (auto const& w : parameters) slopes.parameters.push_back(over(w.data(), w.size()));
  return slopes;
}

}  // namespace sextant::test
