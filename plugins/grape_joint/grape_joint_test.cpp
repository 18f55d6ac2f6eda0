#include "support/plugin.hpp"

#include <array>

using namespace sextant;
using namespace sextant::test;

namespace grape_joint_test {
namespace {
constexpr int n = 6;  // d = 4, lifted by two
using Matrix = std::array<std::array<double, n>, n>;

Matrix product(Matrix const& a, Matrix const& b) {
  Matrix c{};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}
/// exp(x A) by its series, A the generator of the paper with the plugin's frequencies and slope.
Matrix action(double x, std::vector<double> const& t, double beta) {
  Matrix a{}, sum{}, term{};
  for (int f = 0; f < 2; ++f) a[2 * f][2 * f + 1] = -t[f], a[2 * f + 1][2 * f] = t[f];
  a[n - 1][n - 2] = -beta;
  for (int i = 0; i < n; ++i) sum[i][i] = term[i][i] = 1;
  for (int k = 1; k < 60; ++k) {
    term = product(term, a);
    for (auto& row : term)
      for (double& v : row) v *= x / k;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum[i][j] += term[i][j];
  }
  return sum;
}
}  // namespace

TEST_CASE("grape_joint: the exponential of the lifted generator is what the plugin turns and adds",
          "[grape_joint][paper]") {
  auto const joint = encoding_of("grape_joint");
  auto const shape = heads_of(1, 4);
  auto const t = ladder_of(*joint, shape);
  double const beta = 0.3, s = 0.5, p = 5, r = 2;  // query at 5, key at 2
  std::array<double, n> query{0.3 * s, -1.1 * s, 0.7 * s, 0.2 * s, 1, 0}, key{0.9, 0.4, -0.6, 1.3, 0, 1};
  Matrix const g = action(p, t, beta), inverse = action(-r, t, beta);
  double lifted = 0;
  for (int c = 0; c < n; ++c) {
    double q = 0, k = 0;
    for (int i = 0; i < n; ++i) q += g[c][i] * query[i], k += inverse[i][c] * key[i];  // G^-T
    lifted += q * k;
  }
  double plain = joint->bias_at(shape, &beta, {0, 1}, p, r, nullptr, nullptr);
  for (int f = 0; f < 2; ++f) {
    double const a = (p - r) * t[f];
    double const *q = &query[2 * f], *k = &key[2 * f];
    plain += std::cos(a) * (q[0] * k[0] + q[1] * k[1]) + std::sin(a) * (q[0] * k[1] - q[1] * k[0]);
  }
  CHECK(lifted == Catch::Approx(plain).epsilon(1e-12));
}

TEST_CASE("grape_joint: is rope in adjacent pairs plus alibi behind the query", "[grape_joint][law]") {
  auto const joint = encoding_of("grape_joint");
  auto const alibi = encoding_of("alibi");
  auto const shape = heads_of(6, 8);
  CHECK(ladder_of(*joint, shape) == ladder_of(*encoding_of("rope"), shape));
  CHECK(joint->rotary(shape).layout == encoding::Layout::interleaved);
  CHECK(joint->rotary(shape).orientation == 1);
  auto const beta = start_of(*joint, shape);
  CHECK(beta == start_of(*alibi, shape));
  for (int h = 0; h < 6; ++h)
    CHECK(joint->bias_at(shape, &beta[h], {h, 6}, 9, 4, nullptr, nullptr) ==
          alibi->bias_at(shape, &beta[h], {h, 6}, 9, 4, nullptr, nullptr));
  CHECK(joint->bias_at(shape, beta.data(), {0, 6}, 4, 9, nullptr, nullptr) == 5 * beta[0]);  // signed, not even
}

TEST_CASE("grape_joint: the lower block is unipotent and the bias composes", "[grape_joint][law]") {
  auto const joint = encoding_of("grape_joint");
  double const beta = 0.7;
  auto const b = [&](double i, double j) { return joint->bias_at(heads_of(1), &beta, {0, 1}, i, j, nullptr, nullptr); };
  CHECK(b(11, 2) == Catch::Approx(b(11, 6) + b(6, 2)).epsilon(1e-14));
  CHECK(b(3, 3) == 0);
  CHECK_THAT(refusal_of(*joint, heads_of(1, 7)), Catch::Matchers::ContainsSubstring("expected an even number"));
}
}  // namespace grape_joint_test
