#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
double rate(Options options, double z) {
  double out = 0;
  encoding_of("grape_m_ctx", std::move(options))->gate(0, {0, 1}, nullptr, 1, &z, &out);
  return out;
}
}  // namespace

TEST_CASE("grape_m_ctx: starts at the rate 0.001 of the paper, 0.394 with the released code's gate, or as rope",
          "[grape_m_ctx][paper]") {
  auto const start = [](Options const& options) {
    auto const p = encoding_of("grape_m_ctx", options)->parameters(heads_of(2, 8, 6));
    REQUIRE(p.size() == 3);
    for (std::size_t i = 0; i < p[1].size(); ++i) CHECK(p[1].init(Stream(3, "w"), i) == 0);
    return rate(options, p[2].init(Stream(3, "b"), 0));
  };
  CHECK(start({}) == Catch::Approx(1e-3).epsilon(1e-12));
  CHECK(start({{"gate", std::string("sigmoid")}, {"gate_scale", 16.0}}) == Catch::Approx(0.394).margin(5e-4));
  CHECK(start({{"start_rate", 1.0}}) == Catch::Approx(1).epsilon(1e-14));
  auto const rope = ladder_of(*encoding_of("rope"), heads_of(2, 8));
  auto const ladder = ladder_of(*encoding_of("grape_m_ctx"), heads_of(2, 8));
  for (int f = 0; f < 4; ++f) CHECK(ladder[f] == Catch::Approx(rope[f]).epsilon(1e-14));
}

TEST_CASE("grape_m_ctx: one clock for all heads, or one a head", "[grape_m_ctx]") {
  auto const shapes = [](bool phase, bool freq) {
    std::vector<std::vector<std::size_t>> out;
    for (auto const& p : encoding_of("grape_m_ctx", {{"per_head_phase", phase}, {"per_head_freq", freq}})
                             ->parameters(heads_of(3, 8, 6)))
      out.push_back(p.shape);
    return out;
  };
  using Shapes = std::vector<std::vector<std::size_t>>;
  CHECK(shapes(false, false) == Shapes{{1, 4}, {1, 6}, {1}});
  CHECK(shapes(true, true) == Shapes{{3, 4}, {3, 6}, {3}});
  CHECK(encoding_of("grape_m_ctx")->stages(heads_of(3)).gates.at(0).scan == encoding::Scan::exclusive);
  CHECK(encoding_of("grape_m_ctx")->rotary(heads_of(3)).phase_gate == 0);
}
