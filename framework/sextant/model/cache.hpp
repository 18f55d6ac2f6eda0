// Keys and values of the tokens that a model has already read.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/model/config.hpp>

#include <vector>

namespace sextant::model {

/// Room for `capacity` tokens in each of `batch` rows. Keys are kept as turned by the encoding, once for
/// every angle that it will meet them at.
template <class T>
class KvCache {
 public:
  KvCache(ModelConfig const& config, int batch, int capacity);

  int batch() const { return batch_; }
  int capacity() const { return capacity_; }
  int length() const { return length_; }  ///< tokens read so far
  /// Forgets everything after the first `length` tokens. With kv_shift only all or nothing: the mix needs the last one.
  void truncate(int length);
  std::size_t bytes() const;

  struct Layer {
    std::vector<View4<T>> keys;  ///< one a key set of the encoding, [batch, kv_heads, capacity, key_dim]; see reserve()
    View4<T> value;              ///< [batch, kv_heads, capacity, head_dim]
    encoding::TokenState<T> tokens;
    View2<T> last_kv;  ///< with kv_shift: the latest token's, before the shift [batch, 2 kv_heads * head_dim]
  };
  /// Makes room in a layer for as many keys of a token as its encodings keep.
  void reserve(int layer, int key_sets, int key_dim);
  std::vector<Layer> layers;
  View2<double> position;  ///< [batch, capacity] in tokens
  View2<int> document;     ///< [batch, capacity]; all 0 until a batch brings ids
  View2<int> token;        ///< [batch, capacity], for scalings under which earlier tokens are read again
  View2<double>
      sequence;  ///< [batch, capacity]: tokens of the sequence that each was last read in, under such scalings

  /// After a pass over `count` new tokens.
  void advance(int count) { length_ += count; }

 private:
  bool kv_shift_;
  int kv_heads_, batch_, capacity_, length_ = 0;
};

}  // namespace sextant::model
