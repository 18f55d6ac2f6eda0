#include <sextant/base/error.hpp>
#include <sextant/model/cache.hpp>

namespace sextant::model {

template <class T>
KvCache<T>::KvCache(ModelConfig const& config, int batch, int capacity)
    : position("sextant::cache_position", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      document("sextant::cache_document", static_cast<std::size_t>(batch), static_cast<std::size_t>(capacity)),
      batch_(batch),
      capacity_(capacity) {
  expect(batch >= 1 && capacity >= 1, "cache: batch ", batch, " and capacity ", capacity, ", expected at least 1");
  for (int layer = 0; layer < config.layers; ++layer)
    layers.push_back({View4<T>("sextant::cache_key", batch, config.kv_heads, capacity, config.head_dim),
                      View4<T>("sextant::cache_value", batch, config.kv_heads, capacity, config.head_dim),
                      {}});
}

template <class T>
void KvCache<T>::truncate(int length) {
  expect(length >= 0 && length <= length_, "cache: cannot keep ", length, " tokens of ", length_);
  length_ = length;
}

template <class T>
std::size_t KvCache<T>::bytes() const {
  std::size_t total = position.span() * sizeof(double) + document.span() * sizeof(int);
  for (auto const& layer : layers)
    total += (layer.key.span() + layer.value.span()) * sizeof(T) +
             layer.gates.bytes_per_token() * static_cast<std::size_t>(batch_) * layer.gates.capacity;
  return total;
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace sextant::model
