#include "support/plugin.hpp"

#include <algorithm>
#include <limits>

using namespace sextant;
using namespace sextant::test;
using encoding::Tensors;

namespace fire_test {
namespace {
constexpr int heads = 3, length = 11, width = 7;
Options const options{{"width", std::int64_t{width}}, {"threshold", 6.5}};

Tensors start() {
  Tensors out;
  for (auto const& info : encoding_of("fire", options)->tensors(heads_of(heads))) {
    out.emplace_back();
    for (std::size_t i = 0; i < info.size(); ++i) out.back().push_back(info.init(Stream(5, info.name), i));
  }
  out[0][0] = -0.4;
  out[1][0] = 0.9;
  return out;
}
std::vector<double> positions(double from = 0, double step = 1) {
  std::vector<double> out;
  for (int i = 0; i < length; ++i) out.push_back(from + step * i);
  return out;
}
/// The paper's formula, pair by pair.
double by_hand(Tensors const& t, int head, double query, double key) {
  auto const psi = [&](double x) { return std::log(std::abs(t[0][0] * x) + 1); };
  double const x = psi(std::max(query - key, 0.0)) / (psi(std::max(std::abs(t[1][0] * 6.5), query)) + 1e-6);
  double out = t[5][head];
  for (int u = 0; u < width; ++u) out += t[4][head * width + u] * std::max(t[2][u] * x + t[3][u], 0.0);
  return out;
}

/// The term at work on one strip of all rows.
struct Rows {
  std::unique_ptr<encoding::RowTerm<double>> term = encoding_of("fire", options)->rows_double(heads_of(heads));
  std::vector<double> p;
  Rows(Tensors const& tensors, std::vector<double> at) : p(std::move(at)) {
    encoding::RowTerm<double>::Inputs in;
    in.most_offset = p.back() - p.front();
    in.least_offset = -in.most_offset;
    in.whole_positions = std::all_of(p.begin(), p.end(), [](double x) { return x == std::floor(x); });
    in.query_len = in.key_len = length;
    in.heads = heads;
    in.first_head = {0, heads};
    in.tensors = tensors;
    in.want_gradient = true;
    term->prepare(Exec(), in);
  }
  kernels::Strip<double> strip(int head, double* logit) const {
    return {0, head, 0, length, length, logit, length, p.data(), p.data(), nullptr, 0};
  }
  std::vector<double> bias(int head) const {
    std::vector<double> out(length * length, 0.0);
    term->forward(strip(head, out.data()), {});
    return out;
  }
};
}  // namespace

TEST_CASE("fire: the bias is the paper's network of the paper's ratio, at whole positions and between them",
          "[fire][paper]") {
  for (auto const& p : {positions(), positions(2), positions(0, 0.7), positions(-3)}) {
    Rows const rows(start(), p);
    for (int h = 0; h < heads; ++h) {
      auto const bias = rows.bias(h);
      for (int i = 0; i < length; ++i)
        for (int j = 0; j < length; ++j)
          CHECK(bias[i * length + j] == Catch::Approx(by_hand(start(), h, p[i], p[j])).epsilon(1e-12).margin(1e-14));
    }
  }
}

TEST_CASE("fire: a shift changes nothing before the threshold and something past it", "[fire][law]") {
  auto t = start();
  t[1][0] = 4;  // threshold 26: positions 0..10 and 5..15 lie before it
  auto const near = Rows(t, positions()).bias(1), moved = Rows(t, positions(5)).bias(1);
  for (std::size_t n = 0; n < near.size(); ++n) CHECK(near[n] == moved[n]);
  t[1][0] = 0.5;
  auto const past = Rows(t, positions(20)).bias(1), further = Rows(t, positions(40)).bias(1);
  CHECK(std::abs(past[10 * length] - further[10 * length]) > 1e-4);
}

TEST_CASE("fire: hidden pairs stay hidden, other heads are left alone", "[fire]") {
  Rows const rows(start(), positions());
  std::vector<double> logit(length * length, -std::numeric_limits<double>::infinity());
  rows.term->forward(rows.strip(0, logit.data()), {});
  CHECK(std::all_of(logit.begin(), logit.end(), [](double x) { return std::isinf(x) && x < 0; }));
  std::fill(logit.begin(), logit.end(), 0.0);
  rows.term->forward(rows.strip(heads, logit.data()), {});
  CHECK(std::all_of(logit.begin(), logit.end(), [](double x) { return x == 0; }));
}

TEST_CASE("fire: gradients of c, mu and the network are those of central differences", "[fire][gradient]") {
  auto const t = start();
  std::vector<double> weight(heads * length * length);
  for (std::size_t n = 0; n < weight.size(); ++n) weight[n] = Stream(9, "loss").normal(n);
  for (double step : {1.0, 0.7}) {
    auto const loss = [&](Tensors const& at) {
      Rows const rows(at, positions(0, step));
      double sum = 0;
      for (int h = 0; h < heads; ++h) {
        auto const bias = rows.bias(h);
        for (std::size_t n = 0; n < bias.size(); ++n) sum += weight[h * bias.size() + n] * bias[n];
      }
      return sum;
    };
    Rows rows(t, positions(0, step));
    Tensors gradient;
    for (auto const& one : t) gradient.emplace_back(one.size(), 0.0);
    auto grad = weight;
    for (int h = 0; h < heads; ++h)
      rows.term->backward(rows.strip(h, nullptr), {}, grad.data() + h * length * length, {});
    CHECK(grad == weight);  // the bias passes d loss / d logit on as it is
    rows.term->finish(gradient);
    for (std::size_t n = 0; n < t.size(); ++n)
      for (std::size_t i = 0; i < t[n].size(); ++i) {
        auto up = t, down = t;
        up[n][i] += 1e-6, down[n][i] -= 1e-6;
        INFO("tensor " << n << " element " << i);
        CHECK(gradient[n][i] == Catch::Approx((loss(up) - loss(down)) / 2e-6).epsilon(1e-6).margin(1e-7));
      }
  }
}

TEST_CASE("fire: starts as the paper says, one network for all heads", "[fire][paper]") {
  auto const p = encoding_of("fire")->parameters(heads_of(4));
  REQUIRE(p.size() == 6);
  CHECK(p[0].init(Stream(1, "c"), 0) == 0.1);
  CHECK(p[1].init(Stream(1, "mu"), 0) == 1);
  CHECK(p[4].shape == std::vector<std::size_t>{4, 32});
  CHECK((p[4].per_head && p[5].per_head));
  CHECK_FALSE((p[0].per_head || p[1].per_head || p[2].per_head || p[3].per_head));
}
}  // namespace fire_test
