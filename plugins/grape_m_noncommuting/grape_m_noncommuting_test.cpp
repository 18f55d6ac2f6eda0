#include "support/transform.hpp"

using namespace sextant;
using namespace sextant::test;

namespace grape_m_noncommuting_test {
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
/// L of head 0: E Lr E^T with r = 4, or the sum over planes.
Rows thin_generator(encoding::Tensors const& t, std::size_t n, std::size_t r) {
  auto const e = series_exp(skew(t[0].data(), n)), lr = skew(t[1].data(), r);
  Rows out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t a = 0; a < r; ++a)
        for (std::size_t b = 0; b < r; ++b) out[i * n + j] += e[i * n + a] * lr[a * r + b] * e[j * n + b];
  return out;
}
Rows planes_generator(encoding::Tensors const& t, std::size_t n, std::size_t planes) {
  Rows out(n * n, 0.0);
  for (std::size_t m = 0; m < planes; ++m)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        out[i * n + j] += t[2][m] * (t[0][m * n + i] * t[1][m * n + j] - t[1][m * n + i] * t[0][m * n + j]);
  return out;
}
Options thin(int rank) { return {{"rank", std::int64_t{rank}}}; }
Options planes(int count) { return {{"form", std::string("planes")}, {"planes", std::int64_t{count}}}; }
}  // namespace

TEST_CASE("grape_m_noncommuting: both forms are the exponential of their generator", "[grape_m_noncommuting][paper]") {
  TransformRig rig(*encoding_of("grape_m_noncommuting", thin(4)), heads_of(1, 6), {2.5});
  rig.shake(0.5);
  Rows l = thin_generator(rig.tensors(), 6, 4);
  for (double& v : l) v *= 2.5;
  CHECK(worst(rig.matrix(0), series_exp(l)) < 1e-13);

  for (int count : {1, 2, 5}) {  // one plane, overlapping planes, more planes than the head has room for
    TransformRig sum(*encoding_of("grape_m_noncommuting", planes(count)), heads_of(1, 6), {2.5});
    sum.shake(0.5);
    l = planes_generator(sum.tensors(), 6, count);
    for (double& v : l) v *= 2.5;
    CHECK(worst(sum.matrix(0), series_exp(l)) < 1e-12);
  }
}

TEST_CASE("grape_m_noncommuting: G(a) G(b) = G(a + b), norms stay, and D - r directions stand still",
          "[grape_m_noncommuting][law]") {
  for (auto const& options : {thin(4), planes(2)}) {
    TransformRig rig(*encoding_of("grape_m_noncommuting", options), heads_of(2, 7), {2, 5.5, 7.5});
    rig.shake(0.6);
    for (int h = 0; h < 2; ++h) {
      auto const g = rig.matrix(2, h);
      CHECK(worst(product(rig.matrix(0, h), rig.matrix(1, h)), g) < 1e-12);
      CHECK(worst(product(transposed(g), g), unit_matrix(7)) < 1e-13);
      // G - I has rank 4: so many independent columns, and no fifth.
      Rows rest = g;
      for (int i = 0; i < 7; ++i) rest[i * 8] -= 1;
      int rank = 0;
      for (int column = 0; column < 7; ++column) {
        int pivot = rank;
        for (int r = rank; r < 7; ++r)
          if (std::abs(rest[r * 7 + column]) > std::abs(rest[pivot % 7 * 7 + column])) pivot = r;
        if (rank == 7 || std::abs(rest[pivot * 7 + column]) < 1e-10) continue;
        for (int c = 0; c < 7; ++c) std::swap(rest[rank * 7 + c], rest[pivot * 7 + c]);
        for (int r = rank + 1; r < 7; ++r) {
          double const f = rest[r * 7 + column] / rest[rank * 7 + column];
          for (int c = 0; c < 7; ++c) rest[r * 7 + c] -= f * rest[rank * 7 + c];
        }
        ++rank;
      }
      CHECK(rank == 4);
    }
  }
}

TEST_CASE("grape_m_noncommuting: starts as disjoint coordinate planes, which are RoPE turned clockwise",
          "[grape_m_noncommuting][law]") {
  for (auto const& options : {Options{}, Options{{"form", std::string("planes")}}}) {
    TransformRig rig(*encoding_of("grape_m_noncommuting", options), heads_of(1, 6), {3});
    CHECK(worst(rig.matrix(0), pair_turns({3, 3 * std::pow(1e4, -1.0 / 3), 3 * std::pow(1e4, -2.0 / 3)}, -1)) < 1e-14);
  }
}

TEST_CASE("grape_m_noncommuting: gradients are the central differences", "[grape_m_noncommuting][gradient]") {
  for (auto const& options : {thin(4), planes(2), planes(4)}) {
    TransformRig rig(*encoding_of("grape_m_noncommuting", options), heads_of(2, 5), {0, 1, 6});
    rig.shake(0.4);
    rig.check_gradients();
  }
}

TEST_CASE("grape_m_noncommuting: equal frequencies, and planes counted twice, have their right gradients",
          "[grape_m_noncommuting][gradient]") {
  TransformRig rig(*encoding_of("grape_m_noncommuting", thin(4)), heads_of(1, 6), {0, 1, 6});
  rig.tensors()[1] = {0.9, 0, 0, 0, 0, 0.9};
  rig.check_gradients();
  rig.tensors()[1].assign(6, 0.0);
  rig.check_gradients();

  TransformRig same(*encoding_of("grape_m_noncommuting", planes(2)), heads_of(1, 5), {0, 1, 6});
  same.tensors() = {{1, 0, 0, 0, 0, 0, 0, 1, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, {0.6, 0.6}};
  same.check_gradients();
  same.tensors() = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0}, {0.6, 0.2}};
  auto const got = same.gradients(TransformRig<>::numbers("x", 15), TransformRig<>::numbers("w", 15));
  CHECK(got.tensors[2][0] == Catch::Approx(got.tensors[2][1]));  // two names for one plane
  same.check_gradients();
}

TEST_CASE("grape_m_noncommuting: an option of the other form is refused", "[grape_m_noncommuting]") {
  CHECK_THAT(refusal_of(*encoding_of("grape_m_noncommuting", {{"planes", std::int64_t{2}}}), heads_of(1, 8)),
             Catch::Matchers::ContainsSubstring("planes is for form planes"));
  CHECK_THAT(refusal_of(*encoding_of("grape_m_noncommuting", thin(9)), heads_of(1, 8)),
             Catch::Matchers::ContainsSubstring("rank is 9, expected at most head_dim 8"));
}
}  // namespace grape_m_noncommuting_test
