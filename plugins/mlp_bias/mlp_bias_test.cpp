#include "support/plugin.hpp"

#include <algorithm>

using namespace sextant;
using namespace sextant::test;

namespace mlp_bias_test {
namespace {
Options network(int width, int layers, bool log = true) {
  return {{"width", std::int64_t{width}}, {"layers", std::int64_t{layers}}, {"log", log}};
}
/// The network by hand, read off the weights in the order the source names.
double by_hand(std::vector<double> const& w, int width, int layers, int head, double x) {
  std::vector<double> a{x};
  std::size_t at = 0;
  for (int l = 0; l < layers; ++l) {
    std::vector<double> next(width);
    for (int u = 0; u < width; ++u)
      for (double in : a) next[u] += w[at++] * in;
    for (int u = 0; u < width; ++u) next[u] = std::max(next[u] + w[at++], 0.0);
    a = next;
  }
  at += static_cast<std::size_t>(head) * (width + 1);
  double out = w[at + width];
  for (int u = 0; u < width; ++u) out += w[at + u] * a[u];
  return out;
}
}  // namespace

TEST_CASE("mlp_bias: is the network it says, of the signed logarithm or of the offset", "[mlp_bias][paper]") {
  for (int layers : {1, 2, 3})
    for (bool log : {true, false}) {
      auto const mlp = encoding_of("mlp_bias", network(5, layers, log));
      auto const w = start_of(*mlp, heads_of(3));
      CHECK(w.size() == static_cast<std::size_t>(mlp->weight_count(heads_of(3))));
      for (double d : {-40.0, -1.0, 0.0, 2.0, 300.0})
        for (int head = 0; head < 3; ++head) {
          double const x = log ? std::copysign(std::log1p(std::abs(d)), d) : d;
          CHECK(mlp->bias_at(heads_of(3), w.data(), {head, 3}, 400 + d, 400, nullptr, nullptr) ==
                Catch::Approx(by_hand(w, 5, layers, head, x)).epsilon(1e-13));
        }
    }
}

TEST_CASE("mlp_bias: one network for all heads, one output each", "[mlp_bias]") {
  auto const p = encoding_of("mlp_bias", network(5, 2))->parameters(heads_of(4));
  REQUIRE(p.size() == 1);
  CHECK_FALSE(p[0].per_head);
  CHECK(p[0].shape == std::vector<std::size_t>{1, 5 + 5 + 25 + 5 + 4 * 6});
}
}  // namespace mlp_bias_test
