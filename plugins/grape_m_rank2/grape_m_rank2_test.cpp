#include "support/transform.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
/// p omega (a b^T - b a^T) of head 0.
Rows generator(encoding::Tensors const& tensors, std::size_t n, double p, bool tied = false) {
  auto const& a = tensors[0];
  Rows b = tied ? Rows(n) : tensors[1];
  for (std::size_t c = 0; tied && c < n; ++c) b[c] = c % 2 ? a[c - 1] : -a[c + 1];
  Rows out(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out[i * n + j] = p * tensors.back()[0] * (a[i] * b[j] - b[i] * a[j]);
  return out;
}
}  // namespace

TEST_CASE("grape_m_rank2: the closed form is the matrix exponential, also for planes that are not square",
          "[grape_m_rank2][paper]") {
  for (bool tied : {false, true}) {
    TransformRig rig(*encoding_of("grape_m_rank2", {{"b_is_Ja", tied}}), heads_of(1, 6), {0, 1, 2.5, -3});
    rig.shake(0.4);
    for (int i = 0; i < 4; ++i) {
      double const p[] = {0, 1, 2.5, -3};
      CHECK(worst(rig.matrix(i), series_exp(generator(rig.tensors(), 6, p[i], tied))) < 1e-13);
    }
  }
}

TEST_CASE("grape_m_rank2: a turn by a and one by b are the turn by a + b, and no vector changes its length",
          "[grape_m_rank2][law]") {
  TransformRig rig(*encoding_of("grape_m_rank2"), heads_of(2, 8), {3, 11, 14});
  rig.shake(0.3);
  for (int h = 0; h < 2; ++h) {
    CHECK(worst(product(rig.matrix(0, h), rig.matrix(1, h)), rig.matrix(2, h)) < 1e-12);
    CHECK(worst(product(transposed(rig.matrix(1, h)), rig.matrix(1, h)), unit_matrix(8)) < 1e-13);
  }
}

TEST_CASE("grape_m_rank2: with a = e_1 and b = e_2 the plane turns clockwise and the rest stands still",
          "[grape_m_rank2][paper]") {
  TransformRig rig(*encoding_of("grape_m_rank2"), heads_of(1, 4), {5});
  rig.tensors() = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0.25}};
  CHECK(worst(rig.matrix(0), pair_turns({1.25, 0}, -1)) < 1e-15);
}

TEST_CASE("grape_m_rank2: a and b may be replaced by others of their plane that span the same area",
          "[grape_m_rank2][law]") {
  TransformRig rig(*encoding_of("grape_m_rank2"), heads_of(1, 5), {7});
  rig.shake(0.3);
  auto const before = rig.matrix(0);
  auto& t = rig.tensors();
  for (std::size_t c = 0; c < 5; ++c) {  // (a, b) M with det M = 2 * 2 - 3 * 1 = 1
    double const a = t[0][c], b = t[1][c];
    t[0][c] = 2 * a + 3 * b;
    t[1][c] = a + 2 * b;
  }
  CHECK(worst(rig.matrix(0), before) < 1e-12);
}

TEST_CASE("grape_m_rank2: gradients are the central differences, for spread and nearly parallel planes",
          "[grape_m_rank2][gradient]") {
  for (bool tied : {false, true}) {
    TransformRig rig(*encoding_of("grape_m_rank2", {{"b_is_Ja", tied}}), heads_of(2, 6), {0, 1, 4});
    rig.shake(0.4);
    rig.check_gradients();
  }
  TransformRig flat(*encoding_of("grape_m_rank2"), heads_of(1, 4), {0, 2, 9});
  flat.tensors() = {{0.5, 0.2, -0.3, 0.1}, {0.5, 0.2, -0.3, 0.1 + 1e-9}, {0.7}};
  flat.check_gradients();
}

TEST_CASE("grape_m_rank2: parallel a and b are the identity with finite gradients", "[grape_m_rank2]") {
  TransformRig rig(*encoding_of("grape_m_rank2"), heads_of(1, 4), {3});
  rig.tensors() = {{1, 2, 0, 0}, {2, 4, 0, 0}, {1}};
  CHECK(worst(rig.matrix(0), unit_matrix(4)) < 1e-14);
  for (auto const& tensor : rig.gradients({1, 2, 3, 4}, {1, -1, 2, 1}).tensors)
    for (double g : tensor) CHECK(std::isfinite(g));
}

TEST_CASE("grape_m_rank2: starts with unit vectors that are normal to one another", "[grape_m_rank2][paper]") {
  TransformRig rig(*encoding_of("grape_m_rank2"), heads_of(3, 7), {0});
  auto const& t = rig.tensors();
  for (int h = 0; h < 3; ++h) {
    double aa = 0, bb = 0, ab = 0;
    for (int c = 0; c < 7; ++c) {
      double const a = t[0][h * 7 + c], b = t[1][h * 7 + c];
      aa += a * a, bb += b * b, ab += a * b;
    }
    CHECK(aa == Catch::Approx(1));
    CHECK(bb == Catch::Approx(1));
    CHECK(ab == 0);
  }
}

TEST_CASE("grape_m_rank2: an odd head has no J, and shared key heads have no plane of their own", "[grape_m_rank2]") {
  CHECK_THAT(refusal_of(*encoding_of("grape_m_rank2", {{"b_is_Ja", true}}), heads_of(1, 7)),
             Catch::Matchers::ContainsSubstring("head_dim is 7, expected an even number"));
  encoding::Shape grouped = heads_of(4);
  grouped.kv_heads = 2;
  CHECK_THAT(refusal_of(*encoding_of("grape_m_rank2"), grouped),
             Catch::Matchers::ContainsSubstring("as many key heads (2) as query heads (4)"));
}
