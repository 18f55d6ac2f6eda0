#include "support/plugin.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

namespace {
double gate(Options options, int side, int head, double z) {
  auto const grape = encoding_of("grape_a", std::move(options));
  auto const w = start_of(*grape, heads_of(8));
  double out = 0;
  grape->gate(side, {head, 8}, w.data() + head, 1, &z, &out);
  return out;
}
}  // namespace

TEST_CASE("grape_a: starts with omega 1, and an idle gate is ALiBi with slope ln 2", "[grape_a][paper]") {
  CHECK(gate({}, 1, 0, 0) == Catch::Approx(std::numbers::ln2).epsilon(1e-14));
  CHECK(gate({}, 1, 0, 2) == Catch::Approx(std::log1p(std::exp(2.0))).epsilon(1e-14));
  CHECK(gate({{"use_slopes", true}}, 1, 2, 0) == Catch::Approx(std::numbers::ln2 / 8).epsilon(1e-14));
}

TEST_CASE("grape_a: the bias is minus distance times the sum of both gates", "[grape_a]") {
  double const query[] = {0.25, 0}, key[] = {0, 0.5};
  CHECK(encoding_of("grape_a")->bias_at(heads_of(1), start_of(*encoding_of("grape_a"), heads_of(1)).data(), {0, 1}, 9,
                                        5, query, key) == -3);
}

TEST_CASE("grape_a: only the sides that gate own a projection", "[grape_a]") {
  auto const names = [](char const* sides) {
    std::vector<std::string> out;
    for (auto const& p : encoding_of("grape_a", {{"gate", std::string(sides)}})->parameters(heads_of(2)))
      out.push_back(p.name);
    return out;
  };
  CHECK(names("k") == std::vector<std::string>{"omega_raw", "key_gate"});
  CHECK(names("q") == std::vector<std::string>{"omega_raw", "query_gate"});
  CHECK(names("qk") == std::vector<std::string>{"omega_raw", "query_gate", "key_gate"});
}
