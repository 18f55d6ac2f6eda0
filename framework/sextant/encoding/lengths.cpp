#include <sextant/encoding/lengths.hpp>

#include <algorithm>
#include <map>

namespace sextant::encoding {

View2<double> sequence_lengths(View2<double> const& position, View2<int> const& document, int batch) {
  int const len = position.extent_int(1);
  View2<double> const out(uninitialized("sequence length"), static_cast<std::size_t>(batch), position.extent(1));
  for (int b = 0; b < batch; ++b) {
    std::map<int, double> most;
    auto const id = [&](int i) { return document.size() ? document(b, i) : 0; };
    for (int i = 0; i < len; ++i) {
      double const end = position(position.extent(0) > 1 ? b : 0, i) + 1;
      auto const [known, fresh] = most.try_emplace(id(i), end);
      if (!fresh) known->second = std::max(known->second, end);
    }
    for (int i = 0; i < len; ++i) out(b, i) = id(i) < 0 ? no_sequence : most.at(id(i));
  }
  return out;
}

}  // namespace sextant::encoding
