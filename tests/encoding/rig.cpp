#include "encoding/rig.hpp"

#include <sextant/base/philox.hpp>
#include <sextant/check/record.hpp>

#include <cmath>

namespace sextant::test {
namespace {

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
View4<double> packed(Heads<double> const& from) {
  View4<double> to("packed", from.extent(0), from.extent(1), from.extent(2), from.extent(3));
  Kokkos::deep_copy(to, from);
  return to;
}
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
  Pass pass{copy(q), copy(k), {}, {}, {}};
  auto const out = binding.encode(Exec(), 0, View2<double const>(x), heads(pass.q), heads(pass.k), pass.state);
  return {packed(out.query.front()), packed(out.key.front())};
}

void Rig::connect(Pass& pass, bool gradient, double scale) {
  pass.encoded = binding.encode(Exec(), 0, View2<double const>(x), heads(pass.q), heads(pass.k), pass.state);
  pass.in.scale = scale;
  binding.connect(Exec(), 0, pass.encoded.query, {pass.encoded.key.begin(), pass.encoded.key.end()}, pass.state,
                  gradient, pass.in);
  pass.in.value = Heads<double const>(heads(v));
  pass.in.mask.causal = setting.causal;
  pass.in.mask.query_document = pass.in.mask.key_document = documents_;
}

std::vector<double> Rig::logits() { return logits_at(1 / std::sqrt(setting.head_dim)); }

std::vector<double> Rig::logits_at(double scale) {
  begin(0, setting.length);
  Pass pass{copy(q), copy(k), {}, {}, {}};
  connect(pass, false, scale);
  if (scale == 0)
    for (auto const& query : pass.encoded.query) Kokkos::deep_copy(query, 0.0);
  std::size_t const n = setting.length;
  View4<double> logits("logits", setting.batch, setting.heads, n, n);
  check::RecordLogits<double> record(logits);
  pass.in.modifiers.push_back(&record);
  if (pass.in.rows.empty() && !pass.in.branch_rule) pass.in.mask = {.causal = false};
  View4<double> out("out", setting.batch, setting.heads, n, setting.value_dim);
  reference::attention_forward<double>(pass.in, heads(out), View3<double>("lse", setting.batch, setting.heads, n));
  return numbers(logits);
}

std::vector<double> Rig::attend() {
  begin(0, setting.length);
  Pass pass{copy(q), copy(k), {}, {}, {}};
  connect(pass, false);
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  forward(pass, out, View3<double>("lse", setting.batch, setting.heads, setting.length));
  return numbers(out);
}

void Rig::forward(Pass const& pass, View4<double> const& out, View3<double> const& log_sum_exp) const {
  if (setting.teams)
    kernels::team::forward<double>(Exec(), pass.in, heads(out), log_sum_exp), Exec().fence();
  else
    reference::attention_forward<double>(pass.in, heads(out), log_sum_exp);
}

std::vector<double> Rig::attend_in_chunks(int size) {
  Pass pass;
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  std::vector<View4<double>> keys;
  for (int n = 0; n < binding.key_sets(0); ++n)
    keys.emplace_back("keys", setting.batch, setting.kv_heads, setting.length, binding.key_dim(0));
  kernels::AttentionWorkspace workspace;
  for (int first = 0; first < setting.length; first += size) {
    int const count = std::min(size, setting.length - first), seen = first + count;
    begin(first, count);
    View4<double> const query = slice(q, first, count), key = slice(k, first, count);
    View2<double> tokens("x", setting.batch * count, setting.model_dim);
    for (int b = 0; b < setting.batch; ++b)
      for (int i = 0; i < count; ++i)
        for (int c = 0; c < setting.model_dim; ++c) tokens(b * count + i, c) = x(b * setting.length + first + i, c);
    auto const encoded = binding.encode(Exec(), 0, View2<double const>(tokens), heads(query), heads(key), pass.state);
    std::vector<View4<double>> so_far;
    std::vector<Heads<double const>> views;
    for (std::size_t n = 0; n < keys.size(); ++n) {
      put(packed(encoded.key[n]), keys[n], first);
      so_far.push_back(slice(keys[n], 0, seen));
      views.emplace_back(heads(so_far.back()));
    }
    kernels::AttentionInput<double> in;
    binding.connect(Exec(), 0, encoded.query, views, pass.state, false, in);
    in.mask.causal = setting.causal;
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
  Pass pass{copy(q), copy(k), {}, {}, {}};
  connect(pass, true);
  View4<double> out("out", setting.batch, setting.heads, setting.length, setting.value_dim);
  View3<double> lse("lse", setting.batch, setting.heads, setting.length);
  forward(pass, out, lse);
  auto const like = [](View4<double> const& t) {
    return View4<double>("grad", t.extent(0), t.extent(1), t.extent(2), t.extent(3));
  };
  View4<double> const gq = like(q), gk = like(k), gv = like(v);
  auto const grads = binding.gradients(0, heads(gq), heads(gk));
  Heads<double const> const result = heads(out), given = heads(weight_out_);
  auto const &first_query = grads.query.front(), &first_key = grads.key.front();
  if (setting.teams)
    kernels::team::backward<double>(Exec(), pass.in, result, lse, given, first_query, first_key, heads(gv)),
        Exec().fence();
  else
    reference::attention_backward<double>(
        pass.in, result, lse, given, first_query, first_key, heads(gv),
        {{grads.query.begin() + 1, grads.query.end()}, {grads.key.begin() + 1, grads.key.end()}});
  View2<double> gx("gx", x.extent(0), x.extent(1));
  binding.encode_backward(Exec(), 0, View2<double const>(x), heads(pass.q), heads(pass.k), grads, heads(gq), heads(gk),
                          gx, pass.state);
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
