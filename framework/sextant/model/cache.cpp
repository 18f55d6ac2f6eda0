#include <sextant/base/error.hpp>
#include <sextant/model/cache.hpp>

namespace sextant::model {

template <class T>
KvCache<T>::KvCache(ModelConfig const& config, int batch, int capacity)
    : position("sextant::cache_position", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      document("sextant::cache_document", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      token("sextant::cache_token", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      sequence("sextant::cache_sequence", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      kv_shift_(config.kv_shift),
      kv_heads_(config.kv_heads),
      batch_(batch),
      capacity_(capacity) {
  expect(batch >= 1 && capacity >= 1, "cache: batch ", batch, " and capacity ", capacity, ", expected at least 1");
  for (int layer = 0; layer < config.layers; ++layer)
    layers.push_back({{}, View4<T>("sextant::cache_value", batch, config.kv_heads, capacity, config.head_dim), {}, {}});
  for (auto& layer : layers)
    if (kv_shift_) layer.last_kv = View2<T>("sextant::cache_last", batch, 2 * config.kv_width());
}

template <class T>
void KvCache<T>::reserve(int layer, int key_sets, int key_dim) {
  auto& keys = layers.at(layer).keys;
  if (static_cast<int>(keys.size()) == key_sets && keys.front().extent_int(3) == key_dim) return;
  expect(keys.empty() || length_ == 0, "cache: layer ", layer, " holds ", keys.size(), " keys a token of ", length_,
         " tokens, expected ", key_sets, ": a cache serves one model");
  keys.clear();
  for (int n = 0; n < key_sets; ++n) keys.emplace_back("sextant::cache_key", batch_, kv_heads_, capacity_, key_dim);
}

template <class T>
void KvCache<T>::truncate(int length) {
  expect(length >= 0 && length <= length_, "cache: cannot keep ", length, " tokens of ", length_);
  expect(!kv_shift_ || length == 0 || length == length_,
         "cache: a model with kv_shift mixes in the token before the next,"
         " and what it was before its own mix is kept of the last one only: cannot keep ",
         length, " of ", length_);
  length_ = length;
}

template <class T>
std::size_t KvCache<T>::bytes() const {
  std::size_t total =
      (position.span() + sequence.span()) * sizeof(double) + (document.span() + token.span()) * sizeof(int);
  for (auto const& layer : layers)
    total += (layer.value.span() + layer.last_kv.span()) * sizeof(T) +
             layer.tokens.bytes_per_token() * static_cast<std::size_t>(batch_) * layer.tokens.capacity;
  for (auto const& layer : layers)
    for (auto const& key : layer.keys) total += key.span() * sizeof(T);
  return total;
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace sextant::model
