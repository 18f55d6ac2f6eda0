// The tokens of one call, and what encodings keep of tokens between calls.
#pragma once
#include <sextant/base/kokkos.hpp>

#include <vector>

namespace sextant::encoding {

/// The tokens of one call. Keys are numbered from the start of the cache; the new tokens are [first, first + count).
/// Without a cache first = 0.
struct Tokens {
  int batch = 0, first = 0, count = 0;
  View2<double> position;  ///< [batch or 1, first + count], tokens; may be fractional, repeat or restart
  View2<int> document;     ///< [batch, first + count] or empty; negative marks padding; scans restart where it changes
  View3<double> coordinates = {};  ///< [batch or 1, first + count, axes] or empty: for encodings of several axes
  View2<double> length =
      {};  ///< [batch, first + count] or empty: of the sequences, where these tokens are not all there
           ///< is of them; see lengths.hpp
};

/// One number per token and head, of all tokens so far.
struct GateState {
  View3<double> z, value;  ///< [batch, heads or 1, capacity]: before the activation; after activation and scan
  View3<double> grad;      ///< d loss / d value
};
/// Several numbers per token and head.
template <class T>
struct FeatureState {
  View4<T> raw;    ///< [batch, heads, capacity, width] before the convolution; empty when there is none
  View4<T> value;  ///< after it
  View4<T> grad;   ///< d loss / d value
};

/// What a layer's encodings keep of every token seen so far, beside keys and values: part of a key cache. And, for
/// the backward, what attention read of the tokens of the latest call where that is not query and key in place.
template <class T>
class TokenState {
 public:
  std::vector<GateState> gates;           ///< all gates of all terms, in order
  std::vector<FeatureState<T>> features;  ///< all features of all terms, in order
  int capacity = 0, batch = 0;
  std::vector<View4<T>> query;  ///< one a branch [batch, heads, count, width]
  std::vector<View4<T>> key;    ///< one a key set [batch, kv_heads, count, width]

  std::size_t bytes_per_token() const {
    std::size_t bytes = 0;
    for (auto const& gate : gates) bytes += 2 * sizeof(double) * gate.z.extent(1);
    for (auto const& f : features)
      for (auto const* array : {&f.raw, &f.value}) bytes += sizeof(T) * array->extent(1) * array->extent(3);
    return bytes;
  }
};

}  // namespace sextant::encoding
