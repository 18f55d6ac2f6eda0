// The pass over new tokens of rows whose earlier keys and values are cached: prefill in chunks, and decoding.
#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/encoding/lengths.hpp>
#include <sextant/model/layer.hpp>
#include <sextant/model/linear.hpp>
#include <sextant/model/model.hpp>
#include <sextant/model/rows.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace sextant::model {

using kernels::as_groups;

namespace {
constexpr int read_again_at_once = 4096;  // tokens

// cache[b, h, first + i] = x[b, h, i]
template <class T>
void append(Exec const& exec, Heads<T> const& x, View4<T> const& cache, int first) {
  int const batch = x.extent_int(0), heads = x.extent_int(1), count = x.extent_int(2), dim = x.extent_int(3);
  launch(
      exec, "sextant::cache_append", batch * heads, std::int64_t(count) * dim, KOKKOS_LAMBDA(int row) {
        int const b = row / heads, h = row % heads;
        for (int i = 0; i < count; ++i)
          for (int c = 0; c < dim; ++c) cache(b, h, first + i, c) = x(b, h, i, c);
      });
}

// The first `count` tokens of a cache's rows.
template <class T>
Heads<T const> seen(View4<T> const& cache, int count) {
  return Heads<T const>(cache.data(),
                        Kokkos::LayoutStride(cache.extent(0), cache.stride(0), cache.extent(1), cache.stride(1), count,
                                             cache.stride(2), cache.extent(3), 1));
}

// Columns [first, first + count) of x, contiguous.
template <class X>
View2<X> columns(Exec const& exec, View2<X> const& x, int first, int count) {
  View2<X> const out(uninitialized("sextant::columns"), x.extent(0), static_cast<std::size_t>(count));
  launch(
      exec, "sextant::columns", x.extent_int(0), count, KOKKOS_LAMBDA(int b) {
        for (int i = 0; i < count; ++i) out(b, i) = x(b, first + i);
      });
  return out;
}

// The last row of each batch row of x [batch * count, width].
template <class T>
void keep_last(Exec const& exec, View2<T> const& x, int count, View2<T> const& last) {
  int const width = x.extent_int(1);
  launch(
      exec, "sextant::cache_last", last.extent_int(0), width, KOKKOS_LAMBDA(int b) {
        for (int c = 0; c < width; ++c) last(b, c) = x((b + 1) * count - 1, c);
      });
}

// Writes the new tokens, their positions and documents behind those that the cache holds.
template <class T>
void note_tokens(Exec const& exec, Batch const& batch, KvCache<T>& cache) {
  int const first = cache.length(), count = batch.seq_len();
  auto const position = cache.position;
  auto const document = cache.document;
  auto const token = cache.token, tokens = batch.tokens;
  auto const positions = batch.positions;
  auto const documents = batch.documents;
  bool const has_positions = positions.size() > 0, has_documents = documents.size() > 0;
  launch(
      exec, "sextant::cache_tokens", batch.size(), count, KOKKOS_LAMBDA(int b) {
        for (int i = 0; i < count; ++i) {
          position(b, first + i) = has_positions ? positions(b, i) : first + i;
          document(b, first + i) = has_documents ? documents(b, i) : 0;
          token(b, first + i) = tokens(b, i);
        }
      });
}

// Whether tokens [0, count) turn, in sequences of these lengths, as they did when the cache last read them.
template <class T>
bool still_turned(encoding::Binding<T> const& binding, KvCache<T> const& cache, View2<double> const& length,
                  int count) {
  std::map<std::pair<double, double>, bool> known;
  for (int b = 0; b < cache.batch(); ++b)
    for (int i = 0; i < count; ++i) {
      std::pair const change{cache.sequence(b, i), length(b, i)};
      auto const [at, fresh] = known.try_emplace(change, true);
      if (fresh) at->second = binding.turns_alike(change.first, change.second);
      if (!at->second) return false;
    }
  return true;
}
}  // namespace

template <class T>
void Model<T>::logits(Exec const& exec, Batch const& batch, KvCache<T>& cache, View2<T> const& logits) {
  batch.check(exec, config_.vocabulary);
  int const last_tokens = check_logits(batch, logits);
  expect(config_.causal, "model: a model that also looks ahead cannot read its text in pieces");
  expect(cache.batch() == batch.size(), "model: the cache has ", cache.batch(), " rows, expected ", batch.size());
  int const first = cache.length(), count = batch.seq_len(), total = first + count;
  expect(total <= cache.capacity(), "model: ", count, " more tokens after ", first, " exceed the cache's capacity of ",
         cache.capacity());
  round_weights(exec);
  note_tokens(exec, batch, cache);
  exec.fence();
  View2<double> lengths;
  if (binding_.position().follows_length()) {
    lengths = encoding::sequence_lengths(columns(exec, cache.position, 0, total),
                                         columns(exec, cache.document, 0, total), batch.size());
    if (!still_turned(binding_, cache, lengths, first)) {
      cache.truncate(0);
      int const at_once = std::max(1, read_again_at_once / batch.size());
      while (cache.length() < first) extend(exec, cache, std::min(at_once, first - cache.length()), lengths);
    }
    Kokkos::deep_copy(Kokkos::subview(cache.sequence, Kokkos::ALL, std::pair(0, total)), lengths);
  }
  Buffers<T> const& plan = extend(exec, cache, count, lengths);
  auto const read = last_rows(exec, plan.x_normed, count, last_tokens);
  linear(exec, plan.layers.front().few, read, weights_.output, logits);
  exec.fence();
}

template <class T>
Buffers<T>& Model<T>::extend(Exec const& exec, KvCache<T>& cache, int count, View2<double> const& lengths) {
  int const first = cache.length(), total = first + count, batch = cache.batch();
  Buffers<T>& plan = buffers(batch, count, Keep::nothing);
  auto const position = columns(exec, cache.position, 0, total);
  auto const document = columns(exec, cache.document, 0, total);
  Batch const tokens{columns(exec, cache.token, first, count), {}, {}, {}};
  binding_.begin(exec, {batch,
                        first,
                        count,
                        position,
                        document,
                        {},
                        lengths.size() ? columns(exec, lengths, 0, total) : View2<double>()});

  kernels::AttentionInput<T> in;
  in.precision = config_.precision;
  in.mask.query_document = columns(exec, cache.document, first, count);
  in.mask.key_document = document;
  View1<int> const last_document("sextant::last_document", static_cast<std::size_t>(batch));
  for (int b = 0; first > 0 && b < batch; ++b) last_document(b) = cache.document(b, first - 1);
  LayerBuffers<T>& layer = plan.layers.front();  // one for all: nothing is kept
  layer.few = batch * count <= kernels::few_rows;
  embed(exec, tokens, layer.x);
  kernels::norm_forward<T>(exec, norm_of(config_, weights_.layers.front().attention_norm), as_groups(layer.x),
                           as_groups(layer.x_normed), layer.x_stats);
  for (int index = 0; index < config_.layers; ++index) {
    auto& cached = cache.layers[index];
    project(exec, config_, weights_.layers[index], layer, batch, in.mask.query_document,
            first > 0 && config_.kv_shift ? TokenBefore<T>{cached.last_kv, last_document} : TokenBefore<T>{});
    if (config_.kv_shift) keep_last(exec, layer.plain_kv, count, cached.last_kv);
    auto const views = see_qkv(config_, layer.qkv, layer.qk, batch, count);
    cache.reserve(index, binding_.key_sets(index), binding_.key_dim(index));
    binding_.reserve(cached.tokens, index, batch, cache.capacity());
    auto const encoded = binding_.encode(exec, index, layer.x_normed, views.query, views.key, cached.tokens);
    round_operands(exec, config_.precision, encoded, views.value);
    std::vector<Heads<T const>> keys;
    for (std::size_t n = 0; n < cached.keys.size(); ++n) {
      append(exec, encoded.key[n], cached.keys[n], first);
      keys.push_back(seen(cached.keys[n], total));
    }
    append(exec, views.value, cached.value, first);
    binding_.connect(exec, index, encoded.query, keys, cached.tokens, false, in);
    in.value = seen(cached.value, total);
    auto const out = as_heads(layer.attended.data(), batch, config_.heads, count, config_.head_dim);
    kernels::attention_forward<T>(exec, in, out, layer.log_sum_exp, plan.attention);
    after_attention(exec, config_, weights_.layers[index], layer, plan.branch);
    bool const last = index + 1 == config_.layers;
    kernels::add_norm_forward<T>(exec,
                                 norm_of(config_, last ? weights_.norm : weights_.layers[index + 1].attention_norm),
                                 layer.middle, plan.branch, last ? plan.x : layer.x,
                                 last ? plan.x_normed : layer.x_normed, last ? plan.x_stats : layer.x_stats);
  }
  cache.advance(count);
  return plan;
}

template void Model<float>::logits(Exec const&, Batch const&, KvCache<float>&, View2<float> const&);
template void Model<double>::logits(Exec const&, Batch const&, KvCache<double>&, View2<double> const&);

}  // namespace sextant::model
