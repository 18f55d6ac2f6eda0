// shift: every position of a window is moved by one number of tokens. Of encodings that know offsets alone the logits stay,
// to rounding.
#include <sextant/run/compare.hpp>
#include <sextant/spec/probes.hpp>

namespace sextant::run {

Logits shifted_logits(Exec const& exec, Network& network, Window const& window, double offset) {
  int const length = static_cast<int>(window.tokens.size());
  View2<double> const moved("positions", 1, length);
  for (int i = 0; i < length; ++i) moved(0, i) = (window.positions.size() > 0 ? window.positions(0, i) : i) + offset;
  return logits_of(exec, network, {window.tokens, moved});
}

results::Group measure_shift(Probing const& p) {
  return compare_passes(p, [&](Window const& window, int) {
    auto const plain = logits_of(p.exec, p.network, window);
    std::vector<double> out;
    for (auto const& measure : p.stage.evaluation.keep)
      out.push_back(distance(plain, shifted_logits(p.exec, p.network, window, spec::number_of(measure))));
    return out;
  });
}

}  // namespace sextant::run
