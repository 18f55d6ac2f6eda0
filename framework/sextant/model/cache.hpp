// Keys and values of the tokens that a model has already read.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/model/config.hpp>

#include <vector>

namespace sextant::model {

/// Room for `capacity` tokens in each of `batch` rows. Keys are kept as turned by the encoding.
template <class T>
class KvCache {
 public:
  KvCache(ModelConfig const& config, int batch, int capacity);

  int batch() const { return batch_; }
  int capacity() const { return capacity_; }
  int length() const { return length_; }  ///< tokens read so far
  /// Forgets everything after the first `length` tokens.
  void truncate(int length);
  std::size_t bytes() const;

  struct Layer {
    View4<T> key, value;  ///< [batch, kv_heads, capacity, head_dim]
    encoding::GateCache gates;
  };
  std::vector<Layer> layers;
  View2<double> position;  ///< [batch, capacity] in tokens
  View2<int> document;     ///< [batch, capacity]; all 0 until a batch brings ids

  /// After a pass over `count` new tokens.
  void advance(int count) { length_ += count; }

 private:
  int batch_, capacity_, length_ = 0;
};

}  // namespace sextant::model
