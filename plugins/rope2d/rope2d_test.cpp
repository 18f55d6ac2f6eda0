#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
using Kind = std::string;
/// [2 axes][pairs] of head 0.
std::vector<double> frequencies(Options options, int head_dim, int heads = 1, int head = 0) {
  auto const e = encoding_of("rope2d", std::move(options));
  auto const shape = heads_of(heads, head_dim);
  REQUIRE(e->rotary(shape).axes == 2);
  std::vector<double> out(static_cast<std::size_t>(e->rotary(shape).per_head ? heads : 1) * head_dim);
  e->inv_freq(shape, start_of(*e, shape).data(), out.data());
  return {out.begin() + head * head_dim, out.begin() + (head + 1) * head_dim};
}
}  // namespace

TEST_CASE("rope2d: axial pairs turn by one coordinate each, with one ladder for both", "[rope2d][paper]") {
  auto const w = frequencies({}, 8);  // D/4 = 2: t = 1, 100^(-1/2)
  CHECK(w == std::vector<double>{1, 0.1, 0, 0, 0, 0, 1, 0.1});
}

TEST_CASE("rope2d: with y = 0 axial is RoPE on half of the pairs", "[rope2d][law]") {
  auto const w = frequencies({}, 16);
  auto const rope = ladder_of(*encoding_of("rope", {{"base", 100.0}}), heads_of(1, 8));
  for (int f = 0; f < 4; ++f) {
    CHECK(w[f] == Catch::Approx(rope[f]).epsilon(1e-14));
    CHECK(w[4 + f] == 0);
  }
}

TEST_CASE("rope2d: mixed starts in a direction of each head's own, and the one normal to it", "[rope2d][paper]") {
  Options const mixed{{"kind", Kind("mixed")}};
  for (int head = 0; head < 3; ++head) {
    auto const w = frequencies(mixed, 8, 3, head);  // x: [4], y: [4]
    for (int f = 0; f < 4; ++f) CHECK(std::hypot(w[f], w[4 + f]) == Catch::Approx(std::pow(10.0, -(f % 2) / 2.0)));
    CHECK(w[0] * w[2] + w[4] * w[6] == Catch::Approx(0).margin(1e-15));
    CHECK(w[0] * w[5] - w[1] * w[4] == Catch::Approx(0).margin(1e-15));
  }
  CHECK(frequencies(mixed, 8, 3, 0) != frequencies(mixed, 8, 3, 1));
  auto const info = encoding_of("rope2d", mixed)->parameters(heads_of(3, 8));
  REQUIRE(info.size() == 1);
  CHECK(info[0].shape == std::vector<std::size_t>{3, 8});
  CHECK(encoding_of("rope2d")->parameters(heads_of(3, 8)).empty());
}

TEST_CASE("rope2d: d loss / d frequencies reaches the weights of its axis and pair", "[rope2d][gradient]") {
  auto const e = encoding_of("rope2d", {{"kind", Kind("mixed")}});
  auto const shape = heads_of(2, 8);
  auto const weights = start_of(*e, shape);
  std::vector<double> grad, out(16, 0.0);
  for (int n = 0; n < 16; ++n) grad.push_back(0.5 + n);
  e->inv_freq_gradient(shape, weights.data(), grad.data(), out.data());
  CHECK(out == grad);
}

TEST_CASE("rope2d: kronecker is the tensor product of two RoPEs in a fixed basis", "[rope2d][law]") {
  // R(b) (x) R(a) on (r0 c0, r0 c1, r1 c0, r1 c1), a = x t_f, b = y t_g: with u = (r0 c0 - r1 c1, r0 c1 + r1 c0) / sqrt(2)
  // and v = (r0 c0 + r1 c1, r1 c0 - r0 c1) / sqrt(2) it turns u by b + a and v by b - a.
  int const head_dim = 24;  // 12 pairs: 2 of rows and 3 of columns
  auto const w = frequencies({{"kind", Kind("kronecker")}, {"base", 50.0}}, head_dim);
  double const x = 1.7, y = -0.6;
  for (int g = 0; g < 2; ++g)
    for (int f = 0; f < 3; ++f) {
      double const a = x * std::pow(50.0, -f / 3.0), b = y * std::pow(50.0, -g / 2.0);
      double const rows[2][2] = {{std::cos(b), -std::sin(b)}, {std::sin(b), std::cos(b)}};
      double const columns[2][2] = {{std::cos(a), -std::sin(a)}, {std::sin(a), std::cos(a)}};
      double const in[4] = {0.3, -1.1, 0.8, 2.0};
      double out[4] = {};
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 2; ++c)
          for (int s = 0; s < 2; ++s)
            for (int t = 0; t < 2; ++t) out[2 * r + c] += rows[r][s] * columns[c][t] * in[2 * s + t];
      auto const turned = [&](int which, double const* v) {
        int const pair = 2 * (g * 3 + f) + which;
        double const angle = x * w[pair] + y * w[12 + pair];
        double const p = (which ? v[0] + v[3] : v[0] - v[3]), q = (which ? v[2] - v[1] : v[1] + v[2]);
        return std::pair{p * std::cos(angle) - q * std::sin(angle), p * std::sin(angle) + q * std::cos(angle)};
      };
      auto const sum = turned(0, in), difference = turned(1, in);
      CHECK(sum.first == Catch::Approx(out[0] - out[3]));
      CHECK(sum.second == Catch::Approx(out[1] + out[2]));
      CHECK(difference.first == Catch::Approx(out[0] + out[3]));
      CHECK(difference.second == Catch::Approx(out[2] - out[1]));
    }
}

TEST_CASE("rope2d: a grid turns one number into a point, and without one it is refused", "[rope2d]") {
  double p[2];
  encoding_of("rope2d", {{"grid", std::vector<double>{5}}})->coordinates(13, p);
  CHECK((p[0] == 3 && p[1] == 2));
  CHECK_THROWS_WITH(encoding_of("rope2d")->coordinates(13, p),
                    Catch::Matchers::ContainsSubstring("say with rope2d.grid how long a row is"));
  CHECK_THROWS_WITH(encoding_of("rope2d", {{"grid", std::vector<double>{5}}})->coordinates(1.5, p),
                    Catch::Matchers::ContainsSubstring("position 1.5 is not on the grid"));
}

TEST_CASE("rope2d: heads that do not divide by 4 and options of another kind are refused", "[rope2d]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal_of(*encoding_of("rope2d"), heads_of(1, 6)), ContainsSubstring("expected a multiple of 4"));
  CHECK_THAT(refusal_of(*encoding_of("rope2d", {{"row_pairs", std::int64_t{2}}}), heads_of(1, 8)),
             ContainsSubstring("for kind kronecker"));
  CHECK_THAT(refusal_of(*encoding_of("rope2d", {{"kind", Kind("kronecker")}, {"row_pairs", std::int64_t{3}}}),
                        heads_of(1, 16)),
             ContainsSubstring("row_pairs is 3, expected a divisor of head_dim / 4 = 4"));
}
