#include <sextant/base/error.hpp>
#include <sextant/kernels/optimizer.hpp>
#include <sextant/kernels/reduce.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>

using namespace sextant;
using namespace sextant::kernels;

TEMPLATE_TEST_CASE("adamw: ten steps equal the paper's algorithm, decayed entries and others", "[optimizer][paper]",
                   float, double) {
  int const n = 5000, decayed = 4099;  // the boundary lies inside a block
  AdamW const options{.rate = 3e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1};
  auto const parameter = test::random1<TestType>("parameter", n);
  View1<TestType> const moment1("moment1", n), moment2("moment2", n);
  std::vector<double> p(parameter.data(), parameter.data() + n), m(n, 0.0), v(n, 0.0);
  for (int step = 1; step <= 10; ++step) {
    auto const grad = test::random1<TestType>("grad" + std::to_string(step), n);
    adamw<TestType>(Exec(), options, step, 0.5, decayed, parameter, grad, moment1, moment2);
    for (int i = 0; i < n; ++i) {
      double const g = 0.5 * grad(i);
      m[i] = 0.9 * m[i] + (1 - 0.9) * g;
      v[i] = 0.95 * v[i] + (1 - 0.95) * g * g;
      if (i < decayed) p[i] *= 1 - 3e-3 * 0.1;
      p[i] -= 3e-3 * (m[i] / (1 - std::pow(0.9, step))) / (std::sqrt(v[i] / (1 - std::pow(0.95, step))) + 1e-8);
    }
  }
  double worst = 0;
  for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(parameter(i) - p[i]));
  CHECK(worst < (std::is_same_v<TestType, float> ? 3e-6 : 1e-13));
}

TEST_CASE("adamw: an arena of the wrong size and a step of zero are refused", "[optimizer][error]") {
  View1<float> const four("four", 4), five("five", 5);
  CHECK_THROWS_WITH(adamw<float>(Exec(), {}, 1, 1, 0, four, five, four, four),
                    "adamw: grad, moment1 and moment2 must have 4 entries");
  CHECK_THROWS_WITH(adamw<float>(Exec(), {}, 0, 1, 0, four, four, four, four),
                    "adamw: step is 0, expected 1 for the first");
}

TEST_CASE("reduce: sums are exact on integers, whatever the length", "[reduce]") {
  Scratch<double> scratch;
  for (int n : {0, 1, 15, 17, 4096, 4097, 20000}) {
    View1<double> const x("x", n);
    View1<float> const y("y", n);
    for (int i = 0; i < n; ++i) x(i) = i, y(i) = static_cast<float>(i % 11);
    double squares = 0;
    for (int i = 0; i < n; ++i) squares += static_cast<double>(i % 11) * (i % 11);
    CHECK(sum(Exec(), x, scratch) == 0.5 * n * (n - 1.0));
    CHECK(sum_of_squares<float>(Exec(), y, scratch) == squares);
  }
}

TEST_CASE("reduce: rows are added to the target from first to last", "[reduce]") {
  auto const part = test::random2<float>("part", 9, 150);
  auto const target = test::random1<float>("target", 150), expected = test::random1<float>("target", 150);
  add_rows<float>(Exec(), part, target);
  for (int c = 0; c < 150; ++c) {
    float total = 0;
    for (int i = 0; i < 9; ++i) total += part(i, c);
    expected(c) += total;
  }
  CHECK(test::same_bits(target, expected));
}
