#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
std::vector<double> row(double position, int width, Options options = {}) {
  std::vector<double> out(width);
  encoding_of("sinusoidal", std::move(options))->embed_row(heads_of(1, 8, width), position, out.data());
  return out;
}
}  // namespace

TEST_CASE("sinusoidal: row 0 is 0, 1, 0, 1 and every row has the same norm", "[sinusoidal][paper]") {
  CHECK(row(0, 6) == std::vector<double>{0, 1, 0, 1, 0, 1});
  for (double p : {1.0, 37.0, 1e5}) {
    double square = 0;
    for (double x : row(p, 12)) square += x * x;
    CHECK(square == Catch::Approx(6).epsilon(1e-13));
  }
}

TEST_CASE("sinusoidal: row p + m is row p with every pair turned by m times its frequency", "[sinusoidal][paper]") {
  auto const a = row(11, 8), b = row(16, 8);
  for (int f = 0; f < 4; ++f) {
    double const turn = 5 * std::pow(10000.0, -2.0 * f / 8);
    CHECK(b[2 * f] == Catch::Approx(a[2 * f] * std::cos(turn) + a[2 * f + 1] * std::sin(turn)).margin(1e-14));
    CHECK(b[2 * f + 1] == Catch::Approx(a[2 * f + 1] * std::cos(turn) - a[2 * f] * std::sin(turn)).margin(1e-14));
  }
}

TEST_CASE("sinusoidal: stripes widen: down 512 rows no pair changes sign more often than the one before",
          "[sinusoidal][paper]") {
  std::vector<std::vector<double>> rows;
  for (int p = 0; p < 512; ++p) rows.push_back(row(p, 128));
  auto const changes = [&](int channel) {
    int count = 0;
    for (int p = 1; p < 512; ++p) count += rows[p][channel] * rows[p - 1][channel] < 0;
    return count;
  };
  CHECK(changes(0) == 162);  // floor(511 / pi): the first sine has a zero every pi rows
  CHECK(changes(126) == 0);
  for (int channel = 2; channel < 128; ++channel) CHECK(changes(channel) <= changes(channel - 2));
}

TEST_CASE("sinusoidal: the tensor2tensor spacing reaches 1/base, and half puts all sines first", "[sinusoidal]") {
  auto const t2t = row(1, 8, {{"spacing", std::string("t2t")}});
  CHECK(t2t[6] == Catch::Approx(1e-4).epsilon(1e-8));
  auto const half = row(2, 4, {{"layout", std::string("half")}}), pairs = row(2, 4);
  CHECK(half == std::vector<double>{pairs[0], pairs[2], pairs[1], pairs[3]});
  CHECK_THAT(refusal_of(*encoding_of("sinusoidal"), heads_of(1, 8, 7)),
             Catch::Matchers::ContainsSubstring("even model width"));
}
