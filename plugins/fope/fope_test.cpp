#include "support/transform.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

namespace {
// Of a head of 8 with base 10000 the ladder is 1, 0.1, 0.01, 0.001: two complete a period within 100 tokens.
Options fope(Options more = {}) {
  more.try_emplace("trained_length", 100.0);
  return more;
}
/// The matrix of a token whose pairs (m, m + 4) have these cosines and sines.
Rows halves(std::vector<double> const& c, std::vector<double> const& s) {
  Rows out(64, 0.0);
  for (std::size_t m = 0; m < 4; ++m) {
    out[m * 8 + m] = out[(m + 4) * 8 + m + 4] = c[m];
    out[m * 8 + m + 4] = -s[m];
    out[(m + 4) * 8 + m] = s[m];
  }
  return out;
}
}  // namespace

TEST_CASE("fope: without noise it is RoPE on the pairs that complete a period, and the others stand still",
          "[fope][paper]") {
  TransformRig rig(*encoding_of("fope", fope({{"gain", 0.0}})), heads_of(2, 8), {7});
  CHECK(worst(rig.matrix(0, 1), halves({std::cos(7), std::cos(0.7), 1, 1}, {std::sin(7), std::sin(0.7), 0, 0})) <
        1e-14);
}

TEST_CASE("fope: as released, the others turn by 45 degrees and grow, and half of the pairs at most carry a series",
          "[fope][paper]") {
  auto const code = fope({{"form", std::string("code")}, {"gain", 0.0}, {"trained_length", 1e5}});
  TransformRig rig(*encoding_of("fope", code), heads_of(1, 8), {7});
  // Four frequencies, two pairs: they start at the first and the third.
  CHECK(worst(rig.matrix(0), halves({std::cos(7), std::cos(0.07), 1, 1}, {std::sin(7), std::sin(0.07), 1, 1})) < 1e-14);
}

TEST_CASE("fope: each pair's cosine and sine are the series of its coefficients", "[fope][paper]") {
  for (bool separate : {true, false})
    for (bool normalize : {true, false}) {
      auto const options = fope({{"separate_basis", separate}, {"normalize", normalize}});
      TransformRig rig(*encoding_of("fope", options), heads_of(2, 8), {7});
      rig.shake(0.3);
      for (int h = 0; h < 2; ++h) {
        std::vector<double> c(4, 1.0), s(4, 0.0);
        for (int m = 0; m < 2; ++m) {
          auto const a = [&](int side, int k) { return rig.tensors()[separate ? side : 0][(h * 2 + k) * 2 + m]; };
          auto const norm = [&](int side) { return normalize ? a(side, 0) + a(side, 1) : 1.0; };
          c[m] = (a(0, 0) * std::cos(7) + a(0, 1) * std::cos(0.7)) / norm(0);
          s[m] = (a(1, 0) * std::sin(7) + a(1, 1) * std::sin(0.7)) / norm(1);
        }
        CHECK(worst(rig.matrix(0, h), halves(c, s)) < 1e-13);
      }
    }
}

TEST_CASE("fope: gradients are the central differences", "[fope][gradient]") {
  for (auto const& options :
       {fope(), fope({{"separate_basis", false}, {"normalize", true}}), fope({{"per_head", false}}),
        fope({{"form", std::string("code")}, {"layout", std::string("interleaved")}}), fope({{"learnable", false}}),
        fope({{"fourier_dim", std::int64_t{16}}})}) {
    TransformRig rig(*encoding_of("fope", options), heads_of(2, 8), {0, 1, 6});
    rig.check_gradients();
  }
}

TEST_CASE("fope: coefficients that are not trained are drawn from the seed", "[fope]") {
  auto const fixed = [](int seed) {
    TransformRig rig(*encoding_of("fope", fope({{"learnable", false}, {"seed", std::int64_t{seed}}})), heads_of(2, 8),
                     {7});
    CHECK(rig.tensors().empty());
    return rig.matrix(0, 1);
  };
  CHECK(fixed(1) == fixed(1));
  CHECK(worst(fixed(1), fixed(2)) > 0.01);
}

TEST_CASE("fope: a finer ladder gives every pair more frequencies", "[fope]") {
  auto const info = encoding_of("fope", fope({{"fourier_dim", std::int64_t{16}}}))->tensors(heads_of(1, 8));
  REQUIRE(info.size() == 2);
  CHECK(info[0].shape == std::vector<std::size_t>{1, 3, 3});  // 1, 0.316, 0.1; the next, 0.0316, is below 2 pi / 100
}

TEST_CASE("fope: an unknown trained length is refused", "[fope]") {
  CHECK_THAT(refusal_of(*encoding_of("fope"), heads_of(1, 8)),
             Catch::Matchers::ContainsSubstring("give fope.trained_length"));
  encoding::Shape known = heads_of(1, 8);
  known.trained_length = 100;
  CHECK(refusal_of(*encoding_of("fope"), known).empty());
}
