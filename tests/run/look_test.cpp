// What attention looks like, against what is known without looking.
#include <sextant/base/kokkos.hpp>
#include <sextant/run/look.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <numeric>

using namespace sextant;
using Catch::Matchers::WithinAbs;

namespace {
plan::TrainStage tiny_stage(std::string const& encoding, std::vector<encoding::Choice> scalings = {}) {
  plan::TrainStage stage;
  stage.model.layers = 2;
  stage.model.width = 16;
  stage.model.heads = stage.model.kv_heads = 2;
  stage.model.head_width = 8;
  stage.model.mlp.width = 16;
  stage.train.length = 32;
  stage.position = {{{encoding, {}, {}}}, std::move(scalings), 32};
  return stage;
}
}  // namespace

TEST_CASE("look: twice the distances under linear scaling by two are the distances themselves", "[run][probes]") {
  std::vector<std::int32_t> tokens(32);
  std::iota(tokens.begin(), tokens.end(), 1);
  View2<double> const twice("positions", 1, 32);
  for (int i = 0; i < 32; ++i) twice(0, i) = 2 * i;
  auto const& registry = encoding::Registry::global();
  auto plain = run::make_network(tiny_stage("rope"), registry, model::Start::drawn);
  auto halved =
      run::make_network(tiny_stage("rope", {{"linear", {{"factor", 2.0}}, {}}}), registry, model::Start::drawn);
  auto const expected = run::look(Exec(), plain, tokens, 8);
  auto const seen = run::look(Exec(), halved, tokens, 8, twice);
  auto const unmoved = run::look(Exec(), halved, tokens, 8);
  CHECK(seen.entropy == expected.entropy);
  CHECK(unmoved.entropy != expected.entropy);
}

TEST_CASE(
    "look: of weights that are all zero attention is even: ln n, no spread, half of the weight within half of the row",
    "[run][probes]") {
  auto network = run::make_network(tiny_stage("nope"), encoding::Registry::global(), model::Start::zero);
  std::vector<std::int32_t> tokens(32);
  std::iota(tokens.begin(), tokens.end(), 1);
  int const rows = 8;
  auto const gaze = run::look(Exec(), network, tokens, rows);
  REQUIRE(gaze.entropy.size() == 4);
  double entropy = 0;
  for (int n = 0; n < rows; ++n)
    entropy += std::log(32.0 - n * 16 / rows) / rows;  // rows 31, 29, ... see 32, 30, ... keys
  for (int layer = 0; layer < 2; ++layer)
    for (int head = 0; head < 2; ++head) {
      std::size_t const cell = static_cast<std::size_t>(2 * layer + head);
      CHECK_THAT(gaze.entropy[cell], WithinAbs(entropy, 1e-6));
      CHECK_THAT(gaze.spread[cell], WithinAbs(0, 1e-6));
      auto const mass = gaze.mass.begin() + static_cast<std::ptrdiff_t>(32 * cell);
      CHECK_THAT(std::accumulate(mass, mass + 32, 0.0), WithinAbs(1, 1e-6));
      // every row holds each of the first 18 distances: a share of mean(1/n) each
      double each = 0;
      for (int n = 0; n < rows; ++n) each += 1 / (32.0 - n * 16 / rows) / rows;
      CHECK(gaze.quantile(layer, head, 0.5) == std::ceil(0.5 / each) - 1);
      CHECK(gaze.quantile(layer, head, 1.0) == 31);
    }
}
