#include <sextant/inspect/action.hpp>
#include <sextant/inspect/spectrum.hpp>
#include <sextant/inspect/table.hpp>

#include "subject_of.hpp"

using namespace sextant;
using namespace sextant::inspect;
using test::subject_of;

TEST_CASE("spectrum: rope's steps lie on the unit circle at its frequencies, and powers keep norm 1",
          "[inspect][law]") {
  auto const s = spectrum(subject_of("rope", {.head_dim = 8}), 0);
  REQUIRE(s);
  REQUIRE(s->step.size() == 8);
  std::vector<double> angles;
  for (auto const& z : s->step) {
    CHECK(std::abs(z) == Catch::Approx(1).epsilon(1e-13));
    angles.push_back(std::arg(z));
  }
  for (double w : {1.0, 0.1, 0.01, 0.001})
    for (double sign : {1.0, -1.0})
      CHECK(std::any_of(angles.begin(), angles.end(), [&](double a) { return std::abs(a - sign * w) < 1e-12; }));
  for (auto const& g : s->growth) CHECK(g.whole == Catch::Approx(1).epsilon(1e-12));
  CHECK(s->content_residual < 1e-12);
  CHECK(s->relative_residual < 1e-12);
}

TEST_CASE("spectrum: alibi is unipotent, its generator nilpotent, and its powers grow linearly", "[inspect][law]") {
  auto const s = spectrum(subject_of("alibi", {.length = 4096}), 0);
  REQUIRE(s);
  REQUIRE(s->step.size() == 2);
  for (auto const& z : s->step) CHECK(z == 1.0);
  for (auto const& z : s->generator) CHECK(z == 0.0);
  CHECK(s->bias_residual == 0);
  auto const &late = s->growth.back(), &before = s->growth[s->growth.size() - 2];
  CHECK(late.whole / before.whole == Catch::Approx(2).epsilon(1e-3));  // twice the power, twice the norm
  CHECK(late.whole * late.least == Catch::Approx(1).epsilon(1e-9));    // no volume is gained
}

TEST_CASE("spectrum: the lift's singular values are the lemma's, by one-sided Jacobi", "[inspect][paper]") {
  for (double s : {0.0, 1e-3, -0.5, 2.0, -511.5}) {
    Matrix lift = Matrix::identity(7);
    lift(6, 5) = s;
    auto const found = singular_values(lift);
    double lemma[2];
    lift_singular_values(s, lemma);
    CHECK(found.front() == Catch::Approx(lemma[0]).epsilon(1e-12));
    CHECK(found.back() == Catch::Approx(lemma[1]).epsilon(1e-9));
    for (int i = 1; i < 6; ++i) CHECK(found[i] == Catch::Approx(1).epsilon(1e-12));
    CHECK(lemma[0] == Catch::Approx(std::sqrt(1 + s * s / 2 + std::abs(s) * std::sqrt(1 + s * s / 4))));
  }
  auto const alibi = spectrum(subject_of("alibi", {.length = 1024}), 0);
  CHECK(alibi->lift_s == -0.25 * 1023);  // the first of four heads has slope 1/4
  CHECK(alibi->lift_measured[0] == Catch::Approx(alibi->lift_lemma[0]).epsilon(1e-12));
}

TEST_CASE("spectrum: t5's buckets do not add up along the distance", "[inspect][law]") {
  auto const s = spectrum(subject_of("t5"), 0);
  REQUIRE(s);
  CHECK(s->bias_residual > 1e-3);
  CHECK(s->relative_residual < 1e-15);
}

TEST_CASE("spectrum: nope has none, and says why", "[inspect]") {
  auto const s = spectrum(subject_of("nope"), 0);
  CHECK_FALSE(s);
  CHECK_THAT(s.why_not, Catch::Matchers::ContainsSubstring("identity"));
}

TEST_CASE("action: content is what turning both vectors and multiplying gives", "[inspect]") {
  auto const subject = subject_of({{"rope", {{"layout", std::string("interleaved")}}, {}}}, {.head_dim = 6});
  Action const action(subject, 0);
  double const i = 29, j = 12;
  Matrix const content = action.at(i, j).content;
  Stream const stream(3, "vectors");
  double q[6], k[6], turned = 0, formed = 0, trace_of_content = 0;
  for (int c = 0; c < 6; ++c) q[c] = stream.normal(c), k[c] = stream.normal(6 + c);
  for (int f = 0; f < 3; ++f) {
    double const w = std::pow(1e4, -2.0 * f / 6);
    auto const turn = [&](double* v, double p, double out[2]) {
      out[0] = v[2 * f] * std::cos(p * w) - v[2 * f + 1] * std::sin(p * w);
      out[1] = v[2 * f] * std::sin(p * w) + v[2 * f + 1] * std::cos(p * w);
    };
    double a[2], b[2];
    turn(q, i, a), turn(k, j, b);
    turned += a[0] * b[0] + a[1] * b[1];
  }
  for (int a = 0; a < 6; ++a) {
    trace_of_content += content(a, a);
    for (int b = 0; b < 6; ++b) formed += q[a] * content(a, b) * k[b];
  }
  CHECK(formed == Catch::Approx(turned).epsilon(1e-13));
  CHECK(action.trace_at(i, j) == Catch::Approx(trace_of_content).epsilon(1e-13));
}

TEST_CASE("tables: one map takes sinusoidal rows onward, by eigenvalues at its frequencies", "[inspect][law]") {
  auto const found = tables(subject_of("sinusoidal", {.length = 512, .model_dim = 8}));
  REQUIRE(found);
  auto const& t = found.value->at(0);
  CHECK(t.fit_residual < 1e-5);
  CHECK(t.held_out_residual < 1e-3);
  double fastest = 0;
  for (auto const& z : t.step) fastest = std::max(fastest, std::abs(std::arg(z)));
  CHECK(fastest == Catch::Approx(1).epsilon(1e-4));
  for (std::size_t n = 0; n < t.distance.size(); ++n) {  // mean of cos(d w_f), the paper's dot product of two rows
    double mean = 0;
    for (int f = 0; f < 4; ++f) mean += std::cos(t.distance[n] * std::pow(1e4, -2.0 * f / 8)) / 4;
    CHECK(t.similarity[n] == Catch::Approx(mean).margin(1e-12));
  }
}

TEST_CASE("tables: no map takes a fresh trained table onward, and its rows span all directions", "[inspect][law]") {
  auto const found = tables(subject_of("learned", {.length = 512, .model_dim = 16}));
  REQUIRE(found);
  auto const& t = found.value->at(0);
  CHECK(t.held_out_residual > 0.9);  // independent rows: the best map predicts nothing
  CHECK(t.effective_rank > 15);
}
