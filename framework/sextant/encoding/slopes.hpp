// ALiBi's head slopes, which several encodings share.
#pragma once
#include <bit>
#include <cmath>

namespace sextant::encoding {

/// For head counts that are no power of two: the order of the authors' released code, or MPT's.
enum class SlopeOrder { press, mpt };

/// Slope of head `head` among `heads`.
inline double alibi_slope(int head, int heads, double exponent, SlopeOrder order) {
  auto const geometric = [exponent](int index, int count) { return std::exp2(-exponent * (index + 1) / count); };
  if (order == SlopeOrder::mpt) {
    int const count = static_cast<int>(std::bit_ceil(static_cast<unsigned>(heads)));
    if (count == heads) return geometric(head, count);
    int const odd = count / 2;  // entries 1, 3, 5, ... come first, then 0, 2, 4, ...
    return geometric(head < odd ? 2 * head + 1 : 2 * (head - odd), count);
  }
  int const below = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  return head < below ? geometric(head, below) : geometric(2 * (head - below), 2 * below);
}

}  // namespace sextant::encoding
