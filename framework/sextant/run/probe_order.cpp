// order: neighbours change places now and then, and the tokens after them are predicted once more. Measure swapD is the rise of
// the loss from D tokens behind the exchange on.
#include <sextant/base/error.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/spec/probes.hpp>

#include <utility>

namespace sextant::run {
namespace {
constexpr int spacing = spec::exchange_spacing, phases = 8;

/// Sums of differences and how many, by measure.
struct Rise {
  std::vector<double> sum, count;
};

/// The tokens behind the exchange of s and s + 1, up to `spacing` of them, in window `row`.
void compare(Rise& rise, std::vector<int> const& distances, View2<double> const& plain, View2<double> const& swapped,
             int row, int s) {
  for (std::size_t k = 0; k < distances.size(); ++k)
    for (int d = distances[k]; d <= spec::last_behind(distances[k]); ++d)
      if (int const i = s + d; i < plain.extent_int(1)) {  // nll(i) is of token i + 1, d behind s + 1
        rise.sum[k] += swapped(row, i) - plain(row, i);
        rise.count[k] += 1;
      }
}
}  // namespace

results::Group measure_order(Probing const& p) {
  auto const& wanted = p.stage.evaluation;
  int const length = p.stage.row;
  expect(length >= 2 * spacing, wanted.name, ": windows have ", length, " tokens, expected at least ", 2 * spacing);
  auto const windows = test_windows(p);
  std::vector<int> distances;
  for (auto const& name : wanted.keep) distances.push_back(spec::number_of(name));
  std::vector<std::vector<double>> by_window(wanted.keep.size());
  std::int64_t scored = 0;
  for (int first = 0; first < windows.count(); first += p.stage.rows) {
    int const rows = std::min(p.stage.rows, windows.count() - first);
    tasks::Tokens const tokens("evaluation rows", rows, length + 1);
    windows.rows(p.exec, first, tokens);
    auto const plain = losses(p, tokens, first);
    Rise const none{std::vector<double>(distances.size()), std::vector<double>(distances.size())};
    std::vector<Rise> rises(static_cast<std::size_t>(rows), none);
    for (int phase = 0; phase < phases; ++phase) {
      stop_point("while exchanging tokens; finished stages are kept");
      int const offset = 1 + phase * spacing / phases;
      tasks::Tokens const swapped("exchanged", rows, length + 1);
      Kokkos::deep_copy(swapped, tokens);
      for (int row = 0; row < rows; ++row)
        for (int s = offset; s + 1 < length; s += spacing) std::swap(swapped(row, s), swapped(row, s + 1));
      auto const after = losses(p, swapped, first);
      for (int row = 0; row < rows; ++row)
        for (int s = offset; s + 1 < length; s += spacing)
          compare(rises[static_cast<std::size_t>(row)], distances, plain, after, row, s);
      p.progress.update((first + static_cast<double>(rows) * (phase + 1) / phases) / windows.count());
    }
    for (auto const& rise : rises)
      for (std::size_t k = 0; k < distances.size(); ++k) {
        by_window[k].push_back(rise.sum[k] / rise.count[k]);
        scored += static_cast<std::int64_t>(rise.count[k]);
      }
  }
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  for (std::size_t k = 0; k < distances.size(); ++k)
    record.keep(wanted.keep[k], by_window[k], scored / static_cast<std::int64_t>(distances.size()));
  return record.finish();
}

}  // namespace sextant::run
