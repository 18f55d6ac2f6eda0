#include <sextant/base/error.hpp>
#include <sextant/run/cached_reader.hpp>

#include <algorithm>

namespace sextant::run {
namespace {
/// Columns [first, first + count).
template <class X>
View2<X> columns(View2<X> const& x, int first, int count) {
  View2<X> const out("piece", x.extent(0), count);
  for (int row = 0; row < x.extent_int(0); ++row) std::copy_n(&x(row, first), count, &out(row, 0));
  return out;
}

std::string names_of(encoding::Position const& position) {
  std::vector<std::string> names;
  for (auto const& scaling : position.scalings()) names.push_back(scaling->description().name);
  return join(names);
}
}  // namespace

CachedReader::CachedReader(Exec const& exec, Network& network, View2<int> const& tokens, View2<double> const& positions,
                           int first)
    : exec_(exec),
      network_(network),
      tokens_(tokens),
      positions_(positions),
      cache_(network.config(), tokens.extent_int(0), tokens.extent_int(1)) {
  int const length = tokens.extent_int(1);
  for (int read = first; read < length; ++read)
    expect(
        network.binding().turns_alike(read, length), names_of(network.position()), " turns ", read,
        " tokens otherwise when ", length,
        " are there: a stream has not read them yet, and its logits are those of the shorter text; expected a scaling "
        "that does not follow the length, or windows within the length up to which it changes nothing");
}

void CachedReader::read(int count, View2<float> const& logits) {
  int const first = cache_.length();
  model::Batch batch;
  batch.tokens = columns(tokens_, first, count);
  if (positions_.size() > 0) batch.positions = columns(positions_, first, count);
  network_.logits(exec_, batch, cache_, logits);
  exec_.fence();
}

}  // namespace sextant::run
