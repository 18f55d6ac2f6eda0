#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("grape_a_phase: with constant omega 1 and theta at the slopes it is alibi, for both sums",
          "[grape_a_phase][law]") {
  auto const alibi = encoding_of("alibi");
  auto const slopes = start_of(*alibi, heads_of(4));
  for (bool exclusive : {false, true}) {
    auto const grape = encoding_of("grape_a_phase", {{"exclusive", exclusive}});
    auto const theta = start_of(*grape, heads_of(4));
    for (int h = 0; h < 4; ++h) {
      double const query = exclusive ? 9 : 10, key = exclusive ? 4 : 5;  // running sums of ones up to tokens 9 and 4
      CHECK(grape->bias_at(heads_of(4), &theta[h], {h, 4}, 9, 4, &query, &key) ==
            Catch::Approx(alibi->bias_at(heads_of(4), &slopes[h], {h, 4}, 9, 4, nullptr, nullptr)).epsilon(1e-13));
    }
  }
}

TEST_CASE("grape_a_phase: with theta 1 and omega = -log f it is fox", "[grape_a_phase][law]") {
  double const one = std::log(std::expm1(1.0));  // softplus of it is 1
  double const z[] = {0.7, -1.2};
  double step[2], log_f[2], minus[] = {-z[0], -z[1]};
  encoding_of("grape_a_phase")->gate(0, {0, 1}, &one, 2, minus, step);
  encoding_of("fox")->gate(0, {0, 1}, nullptr, 2, z, log_f);
  for (int n = 0; n < 2; ++n) CHECK(step[n] == Catch::Approx(-log_f[n]).epsilon(1e-14));
  double const query = -log_f[0] - log_f[1], key = -log_f[0], fox_query = -query, fox_key = -key;
  CHECK(encoding_of("grape_a_phase")->bias_at(heads_of(1), &one, {0, 1}, 1, 0, &query, &key) ==
        Catch::Approx(encoding_of("fox")->bias_at(heads_of(1), nullptr, {0, 1}, 1, 0, &fox_query, &fox_key))
            .epsilon(1e-14));
}

TEST_CASE("grape_a_phase: the printed phase leaves out the token itself", "[grape_a_phase][paper]") {
  using encoding::Scan;
  auto const scan = [](bool exclusive) {
    return encoding_of("grape_a_phase", {{"exclusive", exclusive}})->stages(heads_of(1)).gates.at(0).scan;
  };
  CHECK(scan(false) == Scan::inclusive);
  CHECK(scan(true) == Scan::exclusive);
}

TEST_CASE("grape_a_phase: a projection and a bias a head, starting at omega 1", "[grape_a_phase]") {
  auto const p = encoding_of("grape_a_phase")->parameters(heads_of(3, 8, 16));
  REQUIRE(p.size() == 3);
  CHECK(p[0].name == "theta_raw");
  CHECK(p[1].shape == std::vector<std::size_t>{3, 16});
  CHECK(std::log1p(std::exp(p[2].init(Stream(1, "b"), 2))) == Catch::Approx(1).epsilon(1e-14));
}
