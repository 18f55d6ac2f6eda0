#include <sextant/base/error.hpp>
#include <sextant/check/conformance_probe.hpp>

#include <cmath>

namespace sextant::check {
namespace {
std::shared_ptr<encoding::Position const> position_of(Trial const& trial, encoding::Registry const& registry) {
  return std::make_shared<encoding::Position const>(trial.choice, registry, trial.shape(), trial.target_length);
}

template <class Slot>
std::vector<double> start_of(Slot const& slot, bool fresh) {
  std::vector<double> out;
  Stream const start(7, slot.name), nudge(8, slot.name);
  for (std::size_t i = 0; i < slot.parameter->info.size(); ++i)
    out.push_back(slot.initial(start, i) + (fresh ? 0.0 : 0.2 * nudge.normal(i)));
  return out;
}

/// Tokens [first, first + count) of axis 2 of [a, b, length, c], or of axis 1 of [a, length, c].
Tensor slice_of(Tensor const& from, int first, int count) {
  std::size_t const axis = from.shape.size() - 2, length = from.shape[axis], inner = from.shape.back();
  Tensor out{from.shape, {}};
  out.shape[axis] = static_cast<std::size_t>(count);
  for (std::size_t row = 0; row < from.values.size() / (length * inner); ++row) {
    auto const begin = from.values.begin() + static_cast<std::ptrdiff_t>((row * length + first) * inner);
    out.values.insert(out.values.end(), begin, begin + static_cast<std::ptrdiff_t>(count * inner));
  }
  return out;
}

double dot(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
}  // namespace

std::vector<double> normal(std::string const& name, std::size_t count) {
  std::vector<double> out(count);
  Stream const stream(20, name);
  for (std::size_t i = 0; i < count; ++i) out[i] = stream.normal(i);
  return out;
}

Tensor normal_tensor(std::string const& name, std::vector<std::size_t> shape) {
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  return {std::move(shape), normal(name, count)};
}

template <class T>
Probe<T>::Probe(Trial given, encoding::Registry const& registry)
    : trial(std::move(given)), registry_(&registry), position_(position_of(trial, registry)) {
  auto const size = [](int n) { return static_cast<std::size_t>(n); };
  auto const heads = [&](char const* name, int count, int channels) {
    return normal_tensor(name, {size(trial.batch), size(count), size(trial.length), size(channels)});
  };
  q = heads("q", trial.heads, trial.head_dim);
  k = heads("k", trial.kv_heads, trial.head_dim);
  v = heads("v", trial.kv_heads, trial.value_dim);
  x = normal_tensor("x", {size(trial.batch), size(trial.length), size(trial.model_dim)});
  allowed.causal = trial.causal;
  encoding::Binding<T> const binding(position_, 1);
  for (auto const& slot : binding.slots()) {
    names.push_back(slot.name);
    parameters.push_back(start_of(slot, trial.fresh));
  }
}

template <class T>
std::unique_ptr<Layer<T>> Probe<T>::layer() {
  auto made = std::make_unique<Layer<T>>(position_, trial.batch, trial.length, trial.at());
  for (std::size_t n = 0; n < parameters.size(); ++n) made->set(n, parameters[n]);
  return made;
}

template <class T>
std::vector<double> Probe<T>::attend() {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  return at_work->attend(v, 0, allowed);
}

template <class T>
std::vector<double> Probe<T>::attend_by_reference() {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  at_work->attend(v, 0, allowed);
  return at_work->attend_by_reference();
}

template <class T>
std::vector<double> Probe<T>::embed() {
  return layer()->embed(x);
}

template <class T>
std::vector<double> Probe<T>::logits(double scale) {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  return at_work->logits(scale, allowed).biased;
}

template <class T>
auto Probe<T>::turned() -> Turned {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  return {at_work->query(), at_work->key()};
}

template <class T>
auto Probe<T>::slopes(Tensor const& weight_out, Tensor const& weight_x) -> Slopes {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  at_work->attend(v, 0, allowed);
  auto grad = at_work->backward(weight_out);
  auto const more = at_work->embed_backward(weight_x);
  for (std::size_t i = 0; i < more.size(); ++i) grad.x[i] += more[i];
  Slopes out{std::move(grad.q), std::move(grad.k), std::move(grad.v), std::move(grad.x), {}};
  for (std::size_t n = 0; n < parameters.size(); ++n) out.parameters.push_back(at_work->gradient(n));
  return out;
}

template <class T>
double Probe<T>::loss(Tensor const& weight_out, Tensor const& weight_x) {
  auto const at_work = layer();
  at_work->encode(q, k, x);
  return dot(weight_out.values, at_work->attend(v, 0, allowed)) + dot(weight_x.values, at_work->embed(x));
}

template <class T>
Probe<T> Probe<T>::slice(int first, int count, std::vector<double> positions) const {
  Trial part = trial;
  part.length = count;
  part.positions = std::move(positions);
  Probe out(part, *registry_);
  out.q = slice_of(q, first, count);
  out.k = slice_of(k, first, count);
  out.v = slice_of(v, first, count);
  out.x = slice_of(x, first, count);
  out.parameters = parameters;
  return out;
}

template class Probe<float>;
template class Probe<double>;

Reader::Reader(Trial const& given, encoding::Registry const& registry) : trial(given) {
  model::ModelConfig config;
  config.vocabulary = vocabulary;
  config.layers = 2;
  config.width = trial.model_dim;
  config.heads = trial.heads;
  config.kv_heads = trial.kv_heads;
  config.head_dim = trial.head_dim;
  config.mlp_width = 8;
  config.tie_embedding = false;
  config.init_std = 0.3;  // large enough that every path shows
  model_ = std::make_unique<model::Model<double>>(config, position_of(trial, registry), 5);
  for (auto const& slot : model_->binding().slots()) {
    auto const values = start_of(slot, trial.fresh);
    auto const view = model_->parameter(slot.name);
    for (std::size_t i = 0; i < values.size(); ++i) view(i) = values[i];
  }
  Stream const stream(21, "tokens");
  for (int i = 0; i < trial.batch * trial.length; ++i)
    tokens.push_back(static_cast<int>(stream.below(vocabulary - 1, i)));
}

void Reader::poison_last_id(double with) {
  auto const table = model_->parameter("embedding.weight");
  for (int c = 0; c < trial.model_dim; ++c) table((vocabulary - 1) * trial.model_dim + c) = with;
}

model::Batch Reader::batch(int first, int count) const {
  model::Batch out;
  auto const at = trial.at();
  out.tokens = View2<int>("tokens", trial.batch, count);
  out.positions = View2<double>("positions", trial.batch, count);
  if (!trial.documents.empty()) out.documents = View2<int>("documents", trial.batch, count);
  for (int b = 0; b < trial.batch; ++b)
    for (int i = 0; i < count; ++i) {
      out.tokens(b, i) = tokens[b * trial.length + first + i];
      out.positions(b, i) = at[first + i];
      if (!trial.documents.empty()) out.documents(b, i) = trial.documents[first + i];
    }
  return out;
}

std::vector<double> Reader::whole() {
  View2<double> out("logits", trial.batch * trial.length, vocabulary);
  model_->logits(Exec(), batch(0, trial.length), out);
  return {out.data(), out.data() + out.size()};
}

template <class F>
std::vector<double> Reader::collect(std::vector<int> const& sizes, F&& f) const {
  std::vector<double> out(static_cast<std::size_t>(trial.batch) * trial.length * vocabulary);
  std::size_t chunk = 0;
  for (int first = 0; first < trial.length; ++chunk) {
    int const count = std::min(sizes[std::min(chunk, sizes.size() - 1)], trial.length - first);
    View2<double> const part = f(first, count);
    int const skipped = part.extent_int(0) / trial.batch - count;
    for (int b = 0; b < trial.batch; ++b)
      for (int i = 0; i < count; ++i)
        for (int c = 0; c < vocabulary; ++c)
          out[(static_cast<std::size_t>(b) * trial.length + first + i) * vocabulary + c] =
              part(b * (skipped + count) + skipped + i, c);
    first += count;
  }
  return out;
}

std::vector<double> Reader::in_chunks(std::vector<int> const& sizes, int capacity) {
  model::KvCache<double> cache(model_->config(), trial.batch, std::max(capacity, trial.length));
  auto const out = collect(sizes, [&](int first, int count) {
    View2<double> part("logits", trial.batch * count, vocabulary);
    model_->logits(Exec(), batch(first, count), cache, part);
    return part;
  });
  cache_bytes_ = cache.bytes();
  return out;
}

std::vector<double> Reader::whole_by_chunks(std::vector<int> const& sizes) {
  return collect(sizes, [&](int first, int count) {
    View2<double> part("logits", trial.batch * (first + count), vocabulary);
    model_->logits(Exec(), batch(0, first + count), part);
    return part;
  });
}

Reader::Gradient Reader::gradient_of_tail(int from) {
  auto all = batch(0, trial.length);
  all.targets = View2<int>("targets", trial.batch, trial.length);
  for (int b = 0; b < trial.batch; ++b)
    for (int i = 0; i < trial.length; ++i) all.targets(b, i) = i < from ? -1 : (3 * (i - from) + b) % vocabulary;
  model_->loss_and_gradient(Exec(), all);
  auto const& g = model_->gradients();
  auto const table = model_->gradient("embedding.weight");
  return {{g.data(), g.data() + g.size()}, {table.data(), table.data() + table.size()}};
}

}  // namespace sextant::check
