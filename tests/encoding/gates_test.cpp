// Sums along the row: restarts at documents, padding, and the exclusive form.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <sextant/encoding/gates.hpp>

#include <catch2/catch_all.hpp>

#include <cmath>

using namespace sextant;
using encoding::GateWork;
using encoding::Scan;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace {
double log_sigmoid(double z) { return z < 0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z)); }

/// A gate of fox on given tokens, its scan chosen freely; the projection is all ones.
struct Bench {
  int heads = 2, length = 6, width = 3;
  Rig rig;
  GateWork work;
  encoding::Tokens tokens;
  encoding::GateState gate;
  View2<double> x, grad_x;

  explicit Bench(Scan scan, std::vector<int> const& document = {})
      : rig([] {
          Setting s{block("fox")};
          s.heads = s.kv_heads = 2;
          return s;
        }()),
        x("x", 6, 3),
        grad_x("gx", 6, 3) {
    work.term = &rig.position->terms()[0];
    work.spec = work.term->stages.gates[0];
    work.spec.scan = scan;
    work.projection = {1, 1, 1, -1, 2, 0.5};
    work.norm = {1, 1};
    work.bias = {0.25, -0.5};
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(1.7 * static_cast<double>(i));
    tokens.batch = 1;
    tokens.count = length;
    if (!document.empty()) {
      tokens.document = View2<int>("documents", 1, length);
      for (int i = 0; i < length; ++i) tokens.document(0, i) = document[i];
    }
    gate.z = View3<double>("z", 1, heads, length);
    gate.value = View3<double>("value", 1, heads, length);
    gate.grad = View3<double>("grad", 1, heads, length);
  }
  encoding::GateInputRows<double const> input() const { return {x.data(), 0, 0, width, 1, width}; }
  void forward() { encoding::gate_forward<double>(Exec(), work, input(), tokens, gate); }
  double activation(int h, int i) const {
    double z = work.bias[h];
    for (int c = 0; c < width; ++c) z += work.projection[h * width + c] * x(i, c);
    return log_sigmoid(z);
  }
};
}  // namespace

TEST_CASE("gates: an inclusive sum restarts where the document changes, padding included", "[encoding][gates]") {
  std::vector<int> const document{-1, -1, 4, 4, 7, 7};
  Bench bench(Scan::inclusive, document);
  bench.forward();
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 6; ++i) {
      double sum = 0;
      for (int m = 0; m <= i; ++m)
        if (document[m] == document[i]) sum += bench.activation(h, m);
      CHECK(bench.gate.value(0, h, i) == Catch::Approx(sum).epsilon(1e-14));
    }
}

TEST_CASE("gates: a projection of any width is its plain sum, over more tokens than are taken at once",
          "[encoding][gates]") {
  Bench bench(Scan::none);
  bench.length = bench.tokens.count = 19;
  bench.gate.z = View3<double>("z", 1, 2, 19);
  bench.gate.value = View3<double>("value", 1, 2, 19);
  for (int width : {1, 15, 16, 37}) {
    bench.width = width;
    bench.x = View2<double>("x", 19, width);
    for (std::size_t i = 0; i < bench.x.size(); ++i) bench.x.data()[i] = std::sin(1.7 * static_cast<double>(i));
    bench.work.projection.clear();
    for (int c = 0; c < 2 * width; ++c) bench.work.projection.push_back(std::cos(0.3 * c));
    bench.forward();
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 19; ++i)
        CHECK(bench.gate.value(0, h, i) == Catch::Approx(bench.activation(h, i)).epsilon(1e-13));
  }
}

TEST_CASE("gates: an exclusive sum leaves its own token out, alone and continued from a cache", "[encoding][gates]") {
  Bench whole(Scan::exclusive), parts(Scan::exclusive);
  whole.forward();
  for (int h = 0; h < 2; ++h) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) {
      CHECK(whole.gate.value(0, h, i) == Catch::Approx(sum).margin(1e-14));
      sum += whole.activation(h, i);
    }
  }
  for (int first : {0, 1, 4}) {
    parts.tokens.first = first;
    parts.tokens.count = first == 0 ? 1 : first == 1 ? 3 : 2;
    auto const rows = encoding::GateInputRows<double const>{&parts.x(first, 0), 0, 0, 3, 1, 3};
    encoding::gate_forward<double>(Exec(), parts.work, rows, parts.tokens, parts.gate);
  }
  CHECK_THAT(parts.gate.value, CloseTo(whole.gate.value, 1e-14));
}

TEST_CASE("gates: a scan's gradient reaches every earlier token of its document", "[encoding][gates]") {
  for (Scan scan : {Scan::none, Scan::inclusive, Scan::exclusive}) {
    std::vector<int> const document{2, 2, 2, 5, 5, 5};
    Bench bench(scan, document);
    auto const loss = [&] {
      bench.forward();
      double sum = 0;
      for (int h = 0; h < 2; ++h)
        for (int i = 0; i < 6; ++i) sum += std::cos(3.0 * h + i) * bench.gate.value(0, h, i);
      return sum;
    };
    loss();
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 6; ++i) bench.gate.grad(0, h, i) = std::cos(3.0 * h + i);
    auto const found = encoding::gate_backward<double>(Exec(), bench.work, bench.input(),
                                                       {bench.grad_x.data(), 0, 0, 3, 1, 3}, bench.tokens, bench.gate);
    auto const slope = [&](double& number) {
      double const kept = number, step = 1e-6;
      number = kept + step;
      double const up = loss();
      number = kept - step;
      double const down = loss();
      number = kept;
      return (up - down) / (2 * step);
    };
    for (std::size_t n = 0; n < 6; ++n)
      CHECK(found.projection[n] == Catch::Approx(slope(bench.work.projection[n])).margin(1e-8));
    for (std::size_t n = 0; n < 2; ++n) CHECK(found.bias[n] == Catch::Approx(slope(bench.work.bias[n])).margin(1e-8));
    for (std::size_t n = 0; n < 18; ++n)
      CHECK(bench.grad_x.data()[n] == Catch::Approx(slope(bench.x.data()[n])).margin(1e-8));
  }
}

TEST_CASE("gates: fox with a constant gate is ALiBi with that slope, and an open gate is nope", "[encoding][gates]") {
  Setting s{block("fox", {{"gate", std::string("bias_only")}})};
  Rig fox(s), alibi(Setting{block("alibi")}), nope(Setting{block("nope")});
  for (int h = 0; h < 4; ++h) {
    double const slope = std::exp2(-2.0 * (h + 1));
    fox.parameters[0](h) = -std::log(std::expm1(slope));  // log sigmoid(b) = -slope
  }
  auto const a = fox.logits(), b = alibi.logits();
  int const n = s.length;
  for (std::size_t at = 0; at < a.size(); ++at)
    if (at % n <= at / n % n)
      CHECK(a[at] == Catch::Approx(b[at]).margin(1e-12));  // ALiBi is even in distance, FoX is not
  Kokkos::deep_copy(fox.parameters[0], 800.0);
  CHECK_THAT(fox.logits(), CloseTo(nope.logits(), 1e-14));
}
