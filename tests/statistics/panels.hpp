// Panels to test with: those of tests/data/statistics.json, and simulated ones.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/statistics/evidence.hpp>

#include <cstdlib>
#include <sextant/base/json.hpp>

namespace sextant::test {

inline nlohmann::json const& statistics_data() {
  static auto const data =
      nlohmann::json::parse(read_file(fs::path(std::getenv("SEXTANT_TEST_DATA")) / "statistics.json"));
  return data;
}

/// Two arms under the same seeds and windows.
inline statistics::Panel panel_of(nlohmann::json const& a, nlohmann::json const& b) {
  statistics::Panel panel{.quantities = 2, .seeds = a.size(), .windows = a[0].size(), .values = {}};
  for (auto const* arm : {&a, &b})
    for (auto const& seed : *arm)
      for (auto const& value : seed) panel.values.push_back(value.get<double>());
  return panel;
}

inline double difference(std::span<double const> means) { return means[0] - means[1]; }

/// Standard deviations of what makes a difference: between seeds, between windows, of both together.
struct Scatter {
  double seed = 0, window = 0, rest = 0;
};

/// One quantity, `effect` plus noise; `draw` numbers the panel.
inline statistics::Panel simulated(std::size_t seeds, std::size_t windows, double effect, Scatter const& scatter,
                                   std::uint64_t draw) {
  Stream const by_seed(7, "simulated/seeds"), by_window(7, "simulated/windows"), rest(7, "simulated/rest");
  statistics::Panel panel{.quantities = 1, .seeds = seeds, .windows = windows, .values = {}};
  for (std::size_t s = 0; s < seeds; ++s)
    for (std::size_t w = 0; w < windows; ++w)
      panel.values.push_back(effect + scatter.seed * by_seed.normal(s, draw) +
                             scatter.window * by_window.normal(w, draw) +
                             scatter.rest * rest.normal(s * windows + w, draw));
  return panel;
}

inline double itself(std::span<double const> means) { return means[0]; }

}  // namespace sextant::test
