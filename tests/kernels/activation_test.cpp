#include <sextant/base/error.hpp>
#include <sextant/kernels/activation.hpp>
#include <sextant/kernels/row_math.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>

using namespace sextant;
using namespace sextant::kernels;

namespace {
constexpr int rows = 19, width = 35;
}

TEST_CASE("row_exp: within two units of the last place from -87 to 88 and finite beyond", "[activation][reference]") {
  double worst = 0;
  for (int i = -86990; i <= 87990; i += 7) {
    float const x = static_cast<float>(i) * 1e-3f;
    double const exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(row_exp(x) - exact) / exact);
  }
  CHECK(worst < 2 * 0x1p-23);
  CHECK(row_exp(-1000.0f) < 1e-37f);
  CHECK(std::isfinite(row_exp(1000.0f)));
  CHECK(std::isnan(row_exp(std::nanf(""))));
}

TEMPLATE_TEST_CASE("activation: swiglu and gelu equal their definition", "[activation][reference]", float, double) {
  double const tolerance = std::is_same_v<TestType, float> ? 2e-6 : 1e-14;
  auto const gate_up = test::random2<TestType>("gate_up", rows, 2 * width, 3);
  View2<TestType> out("out", rows, width);
  swiglu_forward<TestType>(Exec(), gate_up, out);
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) {
      double const gate = gate_up(i, c), up = gate_up(i, width + c);
      double const expected = gate / (1 + std::exp(-gate)) * up;
      worst = std::max(worst, std::abs(out(i, c) - expected) / (1 + std::abs(expected)));
    }
  CHECK(worst < tolerance);

  View2<TestType> gelu("gelu", rows, 2 * width);
  gelu_forward<TestType>(Exec(), gate_up, gelu);
  worst = 0;
  for (std::size_t i = 0; i < gelu.size(); ++i) {
    double const x = gate_up.data()[i];
    double const expected = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    worst = std::max(worst, std::abs(gelu.data()[i] - expected) / (1 + std::abs(expected)));
  }
  CHECK(worst < tolerance);
}

TEMPLATE_TEST_CASE("activation: geglu equals its definition", "[activation][reference][geglu]", float, double) {
  auto const gate_up = test::random2<TestType>("gate_up", rows, 2 * width, 3);
  View2<TestType> out("out", rows, width);
  geglu_forward<TestType>(Exec(), gate_up, out);
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) {
      double const gate = gate_up(i, c), up = gate_up(i, width + c);
      double const expected =
          0.5 * gate * (1 + std::tanh(std::sqrt(2 / M_PI) * (gate + 0.044715 * gate * gate * gate))) * up;
      worst = std::max(worst, std::abs(out(i, c) - expected) / (1 + std::abs(expected)));
    }
  CHECK(worst < (std::is_same_v<TestType, float> ? 2e-6 : 1e-14));
}

TEST_CASE("activation: gradients of swiglu and geglu equal central differences, also in the memory of their input",
          "[activation][gradient]") {
  bool const gelu = GENERATE(false, true);
  auto const x = test::random2<double>("x", rows, 2 * width, 2), weight = test::random2<double>("weight", rows, width);
  View2<double> out("out", rows, width), grad("grad", rows, 2 * width);
  auto const loss = [&] {
    gelu ? geglu_forward<double>(Exec(), x, out) : swiglu_forward<double>(Exec(), x, out);
    return test::weighted(out, weight);
  };
  auto const backward = [&](View2<double> const& to) {
    gelu ? geglu_backward<double>(Exec(), x, weight, to) : swiglu_backward<double>(Exec(), x, weight, to);
  };
  backward(grad);
  CHECK(test::gradient_error(x.data(), grad.data(), static_cast<int>(x.size()), loss) < 1e-8);
  backward(x);
  CHECK(test::same_bits(x, grad));
}

TEST_CASE("activation: gelu's gradient equals central differences, also in the memory of its input",
          "[activation][gradient]") {
  auto const x = test::random2<double>("x", rows, width, 2), weight = test::random2<double>("weight", rows, width);
  View2<double> out("out", rows, width), grad("grad", rows, width);
  auto const loss = [&] {
    gelu_forward<double>(Exec(), x, out);
    return test::weighted(out, weight);
  };
  gelu_backward<double>(Exec(), x, weight, grad);
  CHECK(test::gradient_error(x.data(), grad.data(), static_cast<int>(x.size()), loss) < 1e-8);
  gelu_backward<double>(Exec(), x, weight, x);
  CHECK(test::same_bits(x, grad));
}
