// streaming: a window is read in pieces through a key cache, as a model that answers reads it, and in one pass.
#include <sextant/run/cached_reader.hpp>
#include <sextant/run/compare.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>

namespace sextant::run {

Logits streamed_logits(Exec const& exec, Network& network, Window const& window, int chunk) {
  int const length = static_cast<int>(window.tokens.size()), vocabulary = network.config().vocabulary;
  Logits const out("logits", length, vocabulary);
  CachedReader reader(exec, network, one_row(window.tokens, {}).tokens, window.positions, 1);
  for (int first = 0; first < length; first += chunk) {
    int const count = std::min(chunk, length - first);
    Logits const piece("logits", count, vocabulary);
    reader.read(count, piece);
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
