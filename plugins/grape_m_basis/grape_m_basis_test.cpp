#include "support/transform.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
Rows skew(double const* upper, std::size_t n) {
  Rows out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      out[i * n + j] = *upper;
      out[j * n + i] = -*upper++;
    }
  return out;
}
}  // namespace

TEST_CASE("grape_m_basis: without skew it is RoPE of adjacent pairs", "[grape_m_basis][law]") {
  TransformRig rig(*encoding_of("grape_m_basis"), heads_of(2, 8), {0, 3, 100});
  std::vector<double> angle;
  for (int f = 0; f < 4; ++f) angle.push_back(100 * std::pow(1e4, -2.0 * f / 8));
  for (int h = 0; h < 2; ++h) {
    CHECK(worst(rig.matrix(0, h), unit_matrix(8)) < 1e-14);
    CHECK(worst(rig.matrix(2, h), pair_turns(angle)) < 1e-13);
  }
}

TEST_CASE("grape_m_basis: a trained basis conjugates the turns with exp(S)", "[grape_m_basis][paper]") {
  for (bool clockwise : {false, true}) {
    Options const options{{"orientation", std::string(clockwise ? "clockwise" : "counter_clockwise")}};
    TransformRig rig(*encoding_of("grape_m_basis", options), heads_of(2, 6), {2});
    rig.shake(0.5);
    for (int h = 0; h < 2; ++h) {
      auto const e = series_exp(skew(rig.tensors()[0].data() + h * 15, 6));
      std::vector<double> angle;
      for (double log_freq : rig.tensors()[1]) angle.push_back(2 * std::exp(log_freq));
      CHECK(worst(rig.matrix(0, h), product(product(e, pair_turns(angle, clockwise ? -1 : 1)), transposed(e))) < 1e-13);
    }
  }
}

TEST_CASE("grape_m_basis: G(a) G(b) = G(a + b), and norms stay", "[grape_m_basis][law]") {
  TransformRig rig(*encoding_of("grape_m_basis"), heads_of(1, 8), {2, 5.5, 7.5});
  rig.shake(0.7);
  CHECK(worst(product(rig.matrix(0), rig.matrix(1)), rig.matrix(2)) < 1e-13);
  CHECK(worst(product(transposed(rig.matrix(1)), rig.matrix(1)), unit_matrix(8)) < 1e-13);
}

TEST_CASE("grape_m_basis: gradients are the central differences", "[grape_m_basis][gradient]") {
  for (bool per_head : {true, false}) {
    TransformRig rig(*encoding_of("grape_m_basis", {{"per_head", per_head}}), heads_of(2, 4), {0, 1, 6});
    rig.check_gradients();  // at the start, where every frequency of S is 0
    rig.shake(0.4);
    rig.check_gradients();
  }
}

TEST_CASE("grape_m_basis: equal frequencies, of the turns and of S, have their right gradients",
          "[grape_m_basis][gradient]") {
  TransformRig rig(*encoding_of("grape_m_basis"), heads_of(1, 6), {0, 1, 6});
  rig.tensors()[1] = {-1, -1, -1};
  rig.tensors()[0].assign(15, 0.0);
  rig.tensors()[0][0] = rig.tensors()[0][9] = rig.tensors()[0][14] = 0.8;  // three equal planes of S
  rig.check_gradients();
}

TEST_CASE("grape_m_basis: more tokens than a block of products holds", "[grape_m_basis]") {
  std::vector<double> points;
  for (int i = 0; i < 150; ++i) points.push_back(0.5 * i);
  TransformRig rig(*encoding_of("grape_m_basis"), heads_of(1, 4), points);
  rig.shake(0.5);
  TransformRig late(*encoding_of("grape_m_basis"), heads_of(1, 4), {points[131]});
  late.tensors() = rig.tensors();
  CHECK(worst(rig.matrix(131), late.matrix(0)) < 1e-14);
  auto const x = TransformRig<>::numbers("x", 600), w = TransformRig<>::numbers("w", 600);
  double const step = 1e-6;
  auto& upper = rig.tensors()[0][3];
  auto const got = rig.gradients(x, w).tensors[0][3];
  upper += step;
  double const above = rig.loss(x, w);
  upper -= 2 * step;
  CHECK(got == Catch::Approx((above - rig.loss(x, w)) / (2 * step)).epsilon(1e-7));
}
