// streaming: a window is read in pieces through a key cache, as a model that answers reads it, and in one pass.
#include <sextant/base/error.hpp>
#include <sextant/run/compare.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>

namespace sextant::run {
namespace {
/// Columns [first, first + count) of a single row.
template <class X>
View2<X> columns(View2<X> const& row, int first, int count) {
  View2<X> const out("piece", 1, count);
  std::copy_n(row.data() + first, count, out.data());
  return out;
}

std::string names_of(encoding::Position const& position) {
  std::vector<std::string> names;
  for (auto const& scaling : position.scalings()) names.push_back(scaling->description().name);
  return join(names);
}
}  // namespace

Logits streamed_logits(Exec const& exec, Network& network, Window const& window, int chunk) {
  int const length = static_cast<int>(window.tokens.size());
  for (int read = 1; read < length; ++read)
    expect(
        network.binding().turns_alike(read, length), names_of(network.position()), " turns ", read,
        " tokens otherwise when ", length,
        " are there: a stream has not read them yet, and its logits are those of the shorter text; expected a scaling "
        "that does not follow the length, or windows within the length up to which it changes nothing");
  View2<int> const tokens("tokens", 1, length);
  std::copy(window.tokens.begin(), window.tokens.end(), tokens.data());
  Logits const out("logits", length, network.config().vocabulary);
  model::KvCache<float> cache(network.config(), 1, length);
  for (int first = 0; first < length; first += chunk) {
    int const count = std::min(chunk, length - first);
    model::Batch batch;
    batch.tokens = columns(tokens, first, count);
    if (window.positions.size() > 0) batch.positions = columns(window.positions, first, count);
    Logits const piece("logits", count, network.config().vocabulary);
    network.logits(exec, batch, cache, piece);
    exec.fence();
    std::copy_n(piece.data(), piece.size(), &out(first, 0));
  }
  return out;
}

results::Group measure_streaming(Probing const& p) {
  return compare_passes(p, [&](Window const& window, int) {
    auto const whole = logits_of(p.exec, p.network, window);
    std::vector<double> out;
    for (auto const& measure : p.stage.evaluation.keep)
      out.push_back(distance(whole, streamed_logits(p.exec, p.network, window, spec::number_of(measure))));
    return out;
  });
}

}  // namespace sextant::run
