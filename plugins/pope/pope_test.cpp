#include "support/transform.hpp"

#include <numbers>

using namespace sextant;
using namespace sextant::test;

namespace {
double softplus(double x) { return std::log(1 + std::exp(x)); }
}  // namespace

TEST_CASE("pope: a logit is the sum of cosines of the distance, weighted by both lengths", "[pope][paper]") {
  auto const pope = encoding_of("pope", {{"base", 100.0}});
  CHECK(pope->lifted(heads_of(2, 4)) == 8);
  TransformRig rig(*pope, heads_of(2, 4), {3, 10});
  rig.tensors()[0] = {-0.1, -2, -6, 0, -1, -0.2, -0.3, -0.4};
  auto const x = TransformRig<>::numbers("x", 8);
  for (int h = 0; h < 2; ++h) {
    auto const q = rig.forward(x, Side::query, h), k = rig.forward(x, Side::key, h);
    double got = 0, wanted = 0;
    for (int c = 0; c < 8; ++c) got += q[8 + c] * k[c];  // query at 10, key at 3
    for (int c = 0; c < 4; ++c)
      wanted += softplus(x[4 + c]) * softplus(x[c]) *
                std::cos((3 - 10) * std::pow(100.0, -c / 4.0) + rig.tensors()[0][4 * h + c]);
    CHECK(got == Catch::Approx(wanted).epsilon(1e-13));
  }
}

TEST_CASE("pope: adding a constant to both positions changes no logit", "[pope][law]") {
  auto const pope = encoding_of("pope");
  auto const x = TransformRig<>::numbers("x", 16);
  std::vector<double> logits;
  for (double start : {0.0, 37.0}) {
    TransformRig rig(*pope, heads_of(1, 8), {start, start + 5});
    auto const q = rig.forward(x), k = rig.forward(x, Side::key);
    logits.push_back(0);
    for (int c = 0; c < 16; ++c) logits.back() += q[16 + c] * k[c];
  }
  CHECK(logits[0] == Catch::Approx(logits[1]).epsilon(1e-13));
}

TEST_CASE("pope: gradients are the central differences; a bias outside its range has none", "[pope][gradient]") {
  for (bool biased : {true, false}) {
    TransformRig rig(*encoding_of("pope", {{"phase_bias", biased}}), heads_of(2, 3), {0, 1, 6});
    if (biased) rig.tensors()[0] = {-0.1, -2, -6, 0.5, -1, -7};
    rig.check_gradients();
  }
}

TEST_CASE("pope: the bias is the keys', one number per key head and channel, and starts at 0 or spread", "[pope]") {
  encoding::Shape grouped = heads_of(4);
  grouped.kv_heads = 2;
  auto const info = encoding_of("pope")->tensors(grouped);
  REQUIRE(info.size() == 1);
  CHECK(info[0].shape == std::vector<std::size_t>{2, 8});
  CHECK(info[0].init(Stream(1, "x"), 5) == 0);
  auto const spread = encoding_of("pope", {{"bias_init", std::string("uniform")}})->tensors(grouped)[0];
  for (std::size_t i = 0; i < 16; ++i) {
    double const v = spread.init(Stream(1, "x"), i);
    CHECK((v <= 0 && v >= -2 * std::numbers::pi));
  }
  CHECK(encoding_of("pope", {{"phase_bias", false}})->tensors(grouped).empty());
}
