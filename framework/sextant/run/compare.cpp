#include <sextant/base/error.hpp>
#include <sextant/run/compare.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::run {

Logits logits_of(Exec const& exec, Network& network, Window const& window) {
  Logits const out("logits", window.tokens.size(), network.config().vocabulary);
  network.logits(exec, one_row(window.tokens, window.positions), out);
  exec.fence();
  return out;
}

double distance(Logits const& a, Logits const& b) {
  expect(a.extent(0) == b.extent(0) && a.extent(1) == b.extent(1), "distance of logits: [", b.extent(0), ", ",
         b.extent(1), "], expected [", a.extent(0), ", ", a.extent(1), "]");
  float const *const x = a.data(), *const y = b.data();
  double const count = static_cast<double>(a.size());
  double mean = 0, square = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    expect(std::isfinite(x[i]) && std::isfinite(y[i]), "distance of logits: ", x[i], " and ", y[i], " at token ",
           i / a.extent(1), ", expected finite numbers");
    mean += x[i] / count;
    largest = std::max(largest, std::abs(double{x[i]} - double{y[i]}));
  }
  for (std::size_t i = 0; i < a.size(); ++i) square += (x[i] - mean) * (x[i] - mean) / count;
  expect(square > 0, "distance of logits: all of them are ", mean, ", expected some that differ");
  return largest / std::sqrt(square);
}

results::Group compare_passes(Probing const& p, ReadWindow const& read) {
  auto const& wanted = p.stage.evaluation;
  int const length = p.stage.row;
  auto const windows = test_windows(p);
  std::vector<std::vector<double>> by_window(wanted.keep.size());
  each_window(p, windows, "while comparing passes; finished stages are kept", [&](auto tokens, int w) {
    auto const found =
        read({tokens.first(static_cast<std::size_t>(length)), evaluation_positions(p.network, w, 1, length)}, w);
    for (std::size_t k = 0; k < found.size(); ++k) by_window[k].push_back(found[k]);
  });
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  for (std::size_t k = 0; k < wanted.keep.size(); ++k) record.keep(wanted.keep[k], by_window[k], windows.count());
  return record.finish();
}

}  // namespace sextant::run
