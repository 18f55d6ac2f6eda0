// The plain loops themselves, held against what needs no code of ours: dense matrices, differences, published numbers.
#include <catch2/catch_all.hpp>

#include "attention_case.hpp"

namespace sextant {
namespace {
using test::Attention;
using test::CloseTo;
using test::Shape;

// softmax(q k^T / sqrt(dim) + bias) v by dense matrices, one head, all pairs visible.
std::vector<double> dense(std::vector<std::vector<double>> const& q, std::vector<std::vector<double>> const& k,
                          std::vector<std::vector<double>> const& v, std::vector<std::vector<double>> const& bias) {
  std::vector<double> out;
  for (std::size_t i = 0; i < q.size(); ++i) {
    std::vector<double> e(k.size());
    double total = 0;
    for (std::size_t j = 0; j < k.size(); ++j) {
      double s = 0;
      for (std::size_t d = 0; d < q[i].size(); ++d) s += q[i][d] * k[j][d];
      total += e[j] = std::exp(s / std::sqrt(double(q[i].size())) + bias[i][j]);
    }
    for (std::size_t d = 0; d < v[0].size(); ++d) {
      double sum = 0;
      for (std::size_t j = 0; j < k.size(); ++j) sum += e[j] / total * v[j][d];
      out.push_back(sum);
    }
  }
  return out;
}

// Loss = sum of grad_out * out, whose gradients the backward pass is to give.
template <class Forward>
double loss(Attention<double>& a, Forward forward) {
  forward(a);
  double sum = 0;
  auto const out = test::values(a.out).value, weight = test::values(a.grad_out).value;
  for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * weight[i];
  return sum;
}

template <class Forward>
test::Values slope(Attention<double>& a, Heads<double> const& of, Forward forward) {
  test::Values result{{of.extent(0), of.extent(1), of.extent(2), of.extent(3)}, {}};
  double const step = 1e-5;
  for (std::size_t b = 0; b < of.extent(0); ++b)
    for (std::size_t h = 0; h < of.extent(1); ++h)
      for (std::size_t i = 0; i < of.extent(2); ++i)
        for (std::size_t d = 0; d < of.extent(3); ++d) {
          double const at = of(b, h, i, d);
          of(b, h, i, d) = at + step;
          double const up = loss(a, forward);
          of(b, h, i, d) = at - step;
          double const down = loss(a, forward);
          of(b, h, i, d) = at;
          result.value.push_back((up - down) / (2 * step));
        }
  return result;
}
}  // namespace

TEST_CASE("reference attention: equals softmax of dense matrices written out", "[attention][reference]") {
  std::vector<std::vector<double>> const q{{1, 0.5}, {-0.25, 2}, {0.75, -1}}, k{{0.5, 1}, {2, -0.5}, {0, 0.25}, {1, 1}};
  std::vector<std::vector<double>> const v{{1, 2, 3}, {0, -1, 0.5}, {4, 0, 1}, {-2, 1, 0}};
  std::vector<std::vector<double>> const zero(3, std::vector<double>(4));
  Attention<double> a(Shape{1, 1, 1, 3, 4, 2, 3});
  a.in.mask.causal = false;
  for (int i = 0; i < 3; ++i)
    for (int d = 0; d < 2; ++d) a.query(0, 0, i, d) = q[i][d];
  for (int j = 0; j < 4; ++j) {
    for (int d = 0; d < 2; ++d) a.key(0, 0, j, d) = k[j][d];
    for (int d = 0; d < 3; ++d) a.value(0, 0, j, d) = v[j][d];
  }
  a.reference_forward();
  CHECK_THAT(test::values(a.out).value, CloseTo(dense(q, k, v, zero), 1e-14));

  auto bias = zero;  // -slope * (query position - key position); the queries stand at 1, 2, 3
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) bias[i][j] = -0.3 * (i + 1 - j);
  test::LinearBias<double> link(1, {0.3});
  a.in.modifiers = {&link};
  a.reference_forward();
  CHECK_THAT(test::values(a.out).value, CloseTo(dense(q, k, v, bias), 1e-14));
}

TEMPLATE_TEST_CASE("attention: a slope of 1/2 over four equal scores weighs the near keys most", "[attention][reports]",
                   float, double) {
  for (int const queries : {4, 1}) {  // all at once, and the last query alone
    Attention<TestType> a(Shape{1, 1, 1, queries, 4, 8, 4});
    Kokkos::deep_copy(a.query, TestType(0));
    for (int j = 0; j < 4; ++j)
      for (int d = 0; d < 4; ++d) a.value(0, 0, j, d) = j == d;
    test::LinearBias<TestType> bias(1, {0.5});
    a.in.modifiers = {&bias};
    a.forward();
    std::vector<TestType> last;
    for (int d = 0; d < 4; ++d) last.push_back(a.out(0, 0, queries - 1, d));
    CHECK_THAT(last, CloseTo(std::vector<double>{0.10153632, 0.16740510, 0.27600434, 0.45505423}, 1e-7));
  }
}

TEST_CASE("attention: gradients equal central differences, of both implementations", "[attention][gradient]") {
  bool const fast = GENERATE(true, false);
  Shape const shape = GENERATE(Shape{2, 4, 2, 5, 7, 3, 5}, Shape{1, 2, 1, 13, 11, 4, 2});
  int const window = GENERATE(0, 4);
  CAPTURE(fast, shape.query_len, window);
  Attention<double> a(shape, 5);
  a.in.mask.window = window;
  std::vector<double> slopes;
  for (int h = 0; h < shape.heads; ++h) slopes.push_back(0.2 + 0.1 * h);
  test::LinearBias<double> bias(shape.batch, slopes);
  test::Sieve<double> sieve;
  a.in.modifiers = {&bias, &sieve};
  auto const forward = [&](Attention<double>& x) { fast ? x.forward() : x.reference_forward(); };
  forward(a);
  fast ? a.backward() : a.reference_backward();
  auto const trained = bias.grad_slope();
  CHECK_THAT(a.grad_query, CloseTo(slope(a, a.query, forward), 1e-8));
  CHECK_THAT(a.grad_key, CloseTo(slope(a, a.key, forward), 1e-8));
  CHECK_THAT(a.grad_value, CloseTo(slope(a, a.value, forward), 1e-8));
  std::vector<double> differences;
  for (double& s : bias.slope) {
    double const at = s;
    s = at + 1e-5;
    double const up = loss(a, forward);
    s = at - 1e-5;
    double const down = loss(a, forward);
    s = at;
    differences.push_back((up - down) / 2e-5);
  }
  CHECK_THAT(trained, CloseTo(differences, 1e-8));
}

}  // namespace sextant
