#include "support/close_to.hpp"
#include "support/plugin.hpp"
#include "support/strips.hpp"

using namespace sextant;
using namespace sextant::test;

namespace xpos_test {
namespace {
constexpr int dim = 6;

Options options_of(double scale_base, bool half = false) {
  return {{"scale_base", scale_base}, {"layout", std::string(half ? "half" : "interleaved")}};
}
template <class T>
StripRig<T> rig_of(int query_len, int key_len, int strip_rows, double start = 0) {
  StripRig<T> rig{.heads = 2, .query_len = query_len, .key_len = key_len, .dim = dim, .strip_rows = strip_rows};
  for (int j = 0; j < key_len; ++j) rig.position.push_back(start + j);
  rig.fill(21);
  return rig;
}
/// The product of turned operands with zeta_f^(d / S) for each pair of channels, pair by pair.
template <class T>
std::vector<double> by_the_formula(StripRig<T> const& rig, double scale_base, bool half = false) {
  std::vector<double> out;
  for (int h = 0; h < rig.heads; ++h)
    for (int row = 0; row < rig.query_len; ++row)
      for (int j = 0; j < rig.key_len; ++j) {
        double const distance = rig.position[rig.own(row)] - rig.position[j];
        double sum = 0;
        for (int f = 0; f < dim / 2 && !rig.hidden(row, j); ++f) {
          double const zeta = (2.0 * f / dim + 0.4) / 1.4;
          for (int c : {half ? f : 2 * f, half ? f + dim / 2 : 2 * f + 1})
            sum += std::pow(zeta, distance / scale_base) * rig.query_of(0, h)[row * dim + c] *
                   rig.key_of(0, h)[j * dim + c];
        }
        out.push_back(rig.scale * sum);
      }
  return out;
}
template <class T>
std::vector<double> doubles(std::vector<T> const& in) {
  return {in.begin(), in.end()};
}
}  // namespace

TEST_CASE("xpos: each pair of channels fades by its own zeta with distance", "[xpos][paper]") {
  for (double scale_base : {512.0, 16.0, 0.25})
    for (bool half : {false, true}) {
      auto rig = rig_of<double>(90, 150, 33, 20);
      auto const term = encoding_of("xpos", options_of(scale_base, half))->rows_double(heads_of(2, dim));
      INFO("scale_base " << scale_base);
      CHECK_THAT(rig.logits(*term), CloseTo(by_the_formula(rig, scale_base, half), 1e-12));
    }
}

TEST_CASE("xpos: gradients agree with central differences", "[xpos][gradient]") {
  for (double scale_base : {64.0, 0.5}) {
    auto rig = rig_of<double>(30, 70, 13, 5);
    auto const term = encoding_of("xpos", options_of(scale_base))->rows_double(heads_of(2, dim));
    auto const weight = loss_weights<double>(rig.logits(*term).size());
    auto const analytic = rig.gradients(*term, weight);
    std::function<double()> const loss = [&] { return weighted_sum(weight, rig.logits(*term)); };
    CHECK_THAT(analytic.query, CloseTo(central_differences(rig.query, loss), 1e-7));
    CHECK_THAT(analytic.key, CloseTo(central_differences(rig.key, loss), 1e-7));
  }
}

TEST_CASE("xpos: float32 is finite and right at any position and any fading", "[xpos][precision]") {
  for (double scale_base : {512.0, 4.0, 0.01}) {
    auto rig = rig_of<float>(100, 4000, 64, 61536);  // with centre 0 the factors would be 1e70 and 1e-70
    auto const term = encoding_of("xpos", options_of(scale_base))->rows_float(heads_of(2, dim));
    auto const found = rig.logits(*term);
    INFO("scale_base " << scale_base);
    REQUIRE(std::all_of(found.begin(), found.end(), [](float x) { return std::isfinite(x); }));
    CHECK_THAT(doubles(found), CloseTo(by_the_formula(rig, scale_base), 5e-6));
    auto const grad = rig.gradients(*term, loss_weights<float>(found.size()));
    CHECK(std::all_of(grad.key.begin(), grad.key.end(), [](float x) { return std::isfinite(x); }));
  }
}

TEST_CASE("xpos: positions that start anew at a document leave visible pairs exact and all finite",
          "[xpos][documents]") {
  for (double scale_base : {512.0, 2.0}) {
    auto rig = rig_of<float>(200, 200, 48);
    for (int j = 0; j < 200; ++j) rig.position[j] = j < 70 ? 3000 + j : j - 70;
    rig.hides = [](int i, int j) { return (i < 70) != (j < 70); };
    auto const term = encoding_of("xpos", options_of(scale_base))->rows_float(heads_of(2, dim));
    auto const found = rig.logits(*term);
    INFO("scale_base " << scale_base);
    CHECK_THAT(doubles(found), CloseTo(by_the_formula(rig, scale_base), 5e-6));
    auto const weight = loss_weights<float>(found.size());
    auto const before = rig.gradients(*term, weight);
    for (int h = 0; h < 2; ++h)
      for (int n = 0; n < 70 * dim; ++n) rig.query[h * 200 * dim + n] = rig.key[n] = std::nanf("");
    auto const after = rig.gradients(*term, weight);
    for (int h = 0; h < 2; ++h)
      for (int n = 70 * dim; n < 200 * dim; ++n)
        REQUIRE(before.query[h * 200 * dim + n] == after.query[h * 200 * dim + n]);
  }
}

TEST_CASE("xpos: only distances count, and a slow fading is rope's plain product", "[xpos][law]") {
  auto rig = rig_of<double>(80, 80, 32), later = rig_of<double>(80, 80, 32, 1e6);
  auto const term = encoding_of("xpos", options_of(32))->rows_double(heads_of(2, dim));
  CHECK_THAT(rig.logits(*term), CloseTo(later.logits(*term), 1e-14));
  auto const slow = encoding_of("xpos", options_of(1e15))->rows_double(heads_of(2, dim));
  std::vector<double> plain;
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 80; ++i)
      for (int j = 0; j < 80; ++j) {
        double dot = 0;
        for (int k = 0; k < dim && j <= i; ++k) dot += rig.query_of(0, h)[i * dim + k] * rig.key_of(0, h)[j * dim + k];
        plain.push_back(rig.scale * dot);
      }
  CHECK_THAT(rig.logits(*slow), CloseTo(plain, 1e-12));
  auto const ladder = ladder_of(*encoding_of("xpos"), heads_of(1, 8));
  CHECK_THAT(ladder, CloseTo(ladder_of(*encoding_of("rope"), heads_of(1, 8)), 0));
}

TEST_CASE("xpos: odd head widths are refused", "[xpos]") {
  CHECK_THAT(refusal_of(*encoding_of("xpos"), heads_of(1, 7)), Catch::Matchers::ContainsSubstring("head_dim is 7"));
}
}  // namespace xpos_test
