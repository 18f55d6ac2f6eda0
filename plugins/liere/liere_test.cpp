#include "support/transform.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

namespace {
Options liere(int axes, int block, bool per_head = true) {
  return {{"axes", std::int64_t{axes}}, {"block", std::int64_t{block}}, {"per_head", per_head}};
}
double logit(TransformRig<>& rig, Rows const& x, int width) {  // of tokens 0 and 1
  auto const q = rig.forward(x), k = rig.forward(x, Side::key);
  double sum = 0;
  for (int c = 0; c < width; ++c) sum += q[c] * k[width + c];
  return sum;
}
}  // namespace

TEST_CASE("liere: a point is the exponential of its generators' sum, block by block", "[liere][paper]") {
  TransformRig rig(*encoding_of("liere", liere(2, 3)), heads_of(2, 6), {0.3, -1.5}, 2);
  auto const& u = rig.tensors()[0];  // [2 heads, 2 axes, 2 blocks, 3]
  for (int h = 0; h < 2; ++h) {
    auto const g = rig.matrix(0, h);
    for (int block = 0; block < 2; ++block) {
      Rows s(9, 0.0);
      for (int a = 0; a < 2; ++a)
        for (int n = 0; n < 3; ++n) {
          int const row = n == 2 ? 1 : 0, col = n == 0 ? 1 : 2;
          double const v = (a ? -1.5 : 0.3) * u[((h * 2 + a) * 2 + block) * 3 + n];
          s[row * 3 + col] += v;
          s[col * 3 + row] -= v;
        }
      auto const e = series_exp(s);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          CHECK(g[(3 * block + i) * 6 + 3 * block + j] == Catch::Approx(e[i * 3 + j]).margin(1e-12));
      CHECK(g[(3 * block) * 6 + 3 * (1 - block)] == 0);
    }
  }
}

TEST_CASE("liere: with one axis G(a) G(b) = G(a + b), whatever the block; norms stay", "[liere][law]") {
  TransformRig rig(*encoding_of("liere"), heads_of(1, 6), {0.25, 0.5, 0.75});
  CHECK(worst(product(rig.matrix(0), rig.matrix(1)), rig.matrix(2)) < 1e-12);
  CHECK(worst(product(transposed(rig.matrix(2)), rig.matrix(2)), unit_matrix(6)) < 1e-13);
}

TEST_CASE("liere: one axis sees distances alone; two axes with blocks past 2 do not", "[liere][law]") {
  auto const shift = [](int axes, int block, std::vector<double> points, double by) {
    auto const encoding = encoding_of("liere", liere(axes, block));
    TransformRig here(*encoding, heads_of(1, 6), points, axes);
    for (double& p : points) p += by;
    TransformRig there(*encoding, heads_of(1, 6), points, axes);
    auto const x = TransformRig<>::numbers("x", 12);
    return std::abs(logit(here, x, 6) - logit(there, x, 6));
  };
  CHECK(shift(1, 0, {0.1, 0.4}, 0.5) < 1e-12);
  CHECK(shift(2, 2, {0.1, 0.4, 0.3, 0.2}, 0.5) < 1e-12);
  CHECK(shift(2, 3, {0.1, 0.4, 0.3, 0.2}, 0.5) > 1e-2);
}

TEST_CASE("liere: one axis is two axes with nothing along the second, for any number of tokens", "[liere][law]") {
  for (bool per_head : {true, false}) {
    std::vector<double> line, plane;
    for (int i = 0; i < 70; ++i) {
      line.push_back(0.4 * i - 3);
      plane.insert(plane.end(), {line.back(), 0.0});
    }
    TransformRig one(*encoding_of("liere", liere(1, 4, per_head)), heads_of(2, 8), line);
    TransformRig two(*encoding_of("liere", liere(2, 4, per_head)), heads_of(2, 8), plane, 2);
    auto const& both = two.tensors()[0];  // [2 or 1, 2 axes, 2 blocks, 6]
    for (int h = 0; h < (per_head ? 2 : 1); ++h) std::copy_n(&both[h * 24], 12, &one.tensors()[0][h * 12]);
    auto const x = TransformRig<>::numbers("x", 70 * 8);
    CHECK(worst(one.forward(x, Side::key, 1), two.forward(x, Side::key, 1)) < 1e-11);
  }
}

TEST_CASE("liere: blocks of 2 are RoPE with mixed axes, turned clockwise", "[liere][law]") {
  TransformRig rig(*encoding_of("liere", liere(2, 2)), heads_of(1, 6), {0.3, 0.7}, 2);
  auto const& u = rig.tensors()[0];  // [1, 2 axes, 3 blocks, 1]
  std::vector<double> angle;
  for (int f = 0; f < 3; ++f) angle.push_back(0.3 * u[f] + 0.7 * u[3 + f]);
  CHECK(worst(rig.matrix(0), pair_turns(angle, -1)) < 1e-13);
}

TEST_CASE("liere: gradients are the central differences, at equal frequencies and at the origin too",
          "[liere][gradient]") {
  for (bool per_head : {true, false}) {
    TransformRig rig(*encoding_of("liere", liere(2, 3, per_head)), heads_of(2, 6), {0, 0, 0.3, -0.2, 1, 0.5}, 2);
    rig.check_gradients();
    TransformRig line(*encoding_of("liere", liere(1, 3, per_head)), heads_of(2, 6), {0, 0.3, -2.5});
    line.check_gradients();
  }
  TransformRig rig(*encoding_of("liere", liere(1, 4)), heads_of(1, 4), {0, 0.5, 1});
  rig.tensors()[0] = {0.9, 0, 0, 0, 0, 0.9};
  rig.check_gradients();
}

TEST_CASE("liere: a grid counts in raster order and scales each axis to [0, 1]", "[liere]") {
  auto grid = liere(2, 2);
  grid["grid"] = std::vector<double>{5, 3};
  double p[2];
  encoding_of("liere", grid)->coordinates(7, p);
  CHECK(p[0] == 0.5);
  CHECK(p[1] == 0.5);
  CHECK_THROWS_WITH(encoding_of("liere", liere(2, 2))->coordinates(7, p),
                    Catch::Matchers::ContainsSubstring("reads 2 coordinates of a position"));
  double one = 0;
  encoding_of("liere")->coordinates(7, &one);
  CHECK(one == 7);
}

TEST_CASE("liere: generators start between 0 and 2 pi, and a block must divide the head", "[liere]") {
  TransformRig rig(*encoding_of("liere"), heads_of(2, 8), {0});
  for (double v : rig.tensors()[0]) CHECK((v >= 0 && v < 2 * std::numbers::pi));
  CHECK_THAT(refusal_of(*encoding_of("liere", liere(1, 3)), heads_of(1, 8)),
             Catch::Matchers::ContainsSubstring("block is 3, expected a divisor of head_dim 8"));
}
