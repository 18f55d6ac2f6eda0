// Dual numbers: the derivative a formula gets for free is the derivative.
#include <sextant/base/math.hpp>

#include <catch2/catch_all.hpp>

#include <cmath>
#include <functional>
#include <limits>

using sextant::Dual;
namespace math = sextant::math;

namespace {
using One = Dual<double, 1>;
One variable(double x) {
  One out(x);
  out.slope[0] = 1;
  return out;
}
template <class F>
void check_slope(F const& f, double x) {
  double const h = 1e-6 * (1 + std::abs(x)), measured = (f(x + h) - f(x - h)) / (2 * h);
  One const y = f(variable(x));
  INFO("at " << x);
  CHECK(y.value == Catch::Approx(f(x)).epsilon(1e-15));
  CHECK(y.slope[0] == Catch::Approx(measured).epsilon(1e-7).margin(1e-8));
}
}  // namespace

TEST_CASE("dual: every function of a formula carries its derivative", "[encoding][dual]") {
  for (double x : {0.3, 1.0, 2.7, 11.0}) {
    check_slope([](auto a) { return math::log(a); }, x);
    check_slope([](auto a) { return math::sqrt(a); }, x);
    check_slope([](auto a) { return math::pow(a, 1.7); }, x);
  }
  for (double x : {-9.0, -0.4, 0.3, 2.0, 9.0}) {
    check_slope([](auto a) { return math::exp(a); }, x);
    check_slope([](auto a) { return math::sin(a); }, x);
    check_slope([](auto a) { return math::cos(a); }, x);
    check_slope([](auto a) { return math::tanh(a); }, x);
    check_slope([](auto a) { return math::sigmoid(a); }, x);
    check_slope([](auto a) { return math::softplus(a); }, x);
    check_slope([](auto a) { return math::log_sigmoid(a); }, x);
    check_slope([](auto a) { return math::abs(a); }, x);
    check_slope([](auto a) { return math::floor(a); }, x + 0.01);
    check_slope([](auto a) { return math::max(a, decltype(a)(1)) * math::min(a, decltype(a)(2.5)); }, x);
  }
  check_slope([](auto a) { return math::log1p(a); }, -0.6);
  check_slope([](auto a) { return (a * a - decltype(a)(3)) / (a + decltype(a)(5)); }, 1.3);
}

TEST_CASE("dual: partial derivatives stay apart", "[encoding][dual]") {
  Dual<double, 2> x(3), y(5);
  x.slope[0] = 1;
  y.slope[1] = 1;
  auto const z = x * x * y - y / x;
  CHECK(z.value == Catch::Approx(45 - 5.0 / 3));
  CHECK(z.slope[0] == Catch::Approx(30 + 5.0 / 9));
  CHECK(z.slope[1] == Catch::Approx(9 - 1.0 / 3));
}

TEST_CASE("dual: softplus, sigmoid and their kin neither overflow nor lose their tails", "[encoding][math]") {
  CHECK(math::softplus(800.0) == 800);
  CHECK(math::softplus(-800.0) == 0);
  CHECK(math::softplus(-40.0) == Catch::Approx(std::exp(-40.0)));
  CHECK(math::log_sigmoid(-800.0) == -800);
  CHECK(math::sigmoid(-800.0) == 0);
  CHECK(math::sigmoid(800.0) == 1);
  One const far = math::softplus(variable(-750));
  CHECK(far.slope[0] >= 0);
  CHECK(std::isfinite(math::log_sigmoid(variable(900)).slope[0]));
  for (double y : {1e-3, 0.5, 1.0, 31.0})
    CHECK(math::softplus(math::inverse_softplus(y)) == Catch::Approx(y).epsilon(1e-12));
}
