#include "support/close_to.hpp"
#include "support/plugin.hpp"
#include "support/strips.hpp"

#include <complex>

using namespace sextant;
using namespace sextant::test;

namespace {
struct Form {
  bool half = false, clockwise = false, norm_query = true;
  int width = 4;
  Options options() const {
    return {{"p_dim", std::int64_t{width}},
            {"layout", std::string(half ? "half" : "interleaved")},
            {"orientation", std::string(clockwise ? "clockwise" : "counter_clockwise")},
            {"norm_rows", norm_query}};
  }
};
template <class T>
StripRig<T> rig_of(int query_len, int key_len, int width = 4) {
  StripRig<T> rig{.heads = 2, .query_len = query_len, .key_len = key_len, .dim = 3, .strip_rows = 5};
  rig.feature_widths = {width};
  for (int j = 0; j < key_len; ++j) rig.position.push_back(3 + j);
  rig.fill(8);
  return rig;
}
std::unique_ptr<encoding::RowTerm<double>> term_of(Form const& form) {
  return encoding_of("grape_ap", form.options())->rows_double(heads_of(2, 3));
}

/// alpha_h log sigmoid(<P_i, R(p_m) P_m> / p), by complex numbers.
double edge(StripRig<double> const& rig, Form const& form, int h, int i, int m) {
  auto const probe = [&](int token, bool normalise) {
    double const* p = rig.feature[0].data() + (rig.head_row(0, h) * rig.key_len + token) * form.width;
    double square = 0;
    for (int k = 0; k < form.width; ++k) square += p[k] * p[k];
    double const by = normalise ? 1 / std::sqrt(square / form.width + 1e-6) : 1;
    std::vector<std::complex<double>> out;
    for (int f = 0; f < form.width / 2; ++f)
      out.emplace_back(by * (form.half ? p[f] : p[2 * f]), by * (form.half ? p[f + form.width / 2] : p[2 * f + 1]));
    return out;
  };
  auto const query = probe(i, form.norm_query), key = probe(m, true);
  auto const turn = std::polar(1.0, (form.clockwise ? -1 : 1) * rig.position[m]);
  double dot = 0;
  for (std::size_t f = 0; f < query.size(); ++f) dot += (std::conj(query[f]) * turn * key[f]).real();
  double const alpha = h == 0 ? 1.0 / 16 : 1.0 / 256;  // slopes of two heads
  return -alpha * std::log1p(std::exp(-dot / form.width));
}
double product(StripRig<double> const& rig, int h, int row, int j) {
  double dot = 0;
  for (int k = 0; k < rig.dim; ++k) dot += rig.query_of(0, h)[row * rig.dim + k] * rig.key_of(0, h)[j * rig.dim + k];
  return rig.scale * dot;
}
std::vector<double> by_the_formula(StripRig<double> const& rig, Form const& form) {
  std::vector<double> out;
  for (int h = 0; h < rig.heads; ++h)
    for (int row = 0; row < rig.query_len; ++row)
      for (int j = 0; j < rig.key_len; ++j) {
        double sum = rig.hidden(row, j) ? 0 : product(rig, h, row, j);
        for (int m = j + 1; m <= rig.own(row) && !rig.hidden(row, j); ++m)
          if (!rig.hidden(row, m)) sum += edge(rig, form, h, rig.own(row), m);
        out.push_back(sum);
      }
  return out;
}
Form const forms[] = {{}, {.half = true, .clockwise = true, .norm_query = false}, {.half = true, .width = 6}};
}  // namespace

TEST_CASE("grape_ap: the bias is the sum of edges after the key up to the query", "[grape_ap][paper]") {
  for (auto const& form : forms) {
    auto rig = rig_of<double>(12, 17, form.width);
    CHECK_THAT(rig.logits(*term_of(form)), CloseTo(by_the_formula(rig, form), 1e-13));
  }
}

TEST_CASE("grape_ap: hidden pairs are no edges of the path", "[grape_ap][documents]") {
  auto rig = rig_of<double>(17, 17);
  rig.hides = [](int i, int j) { return (i < 7) != (j < 7) || j == 9; };
  CHECK_THAT(rig.logits(*term_of({})), CloseTo(by_the_formula(rig, {}), 1e-13));
}

TEST_CASE("grape_ap: gradients agree with central differences", "[grape_ap][gradient]") {
  for (auto const& form : forms) {
    auto rig = rig_of<double>(9, 13, form.width);
    rig.hides = [](int i, int j) { return i > 8 && j == 4; };
    auto const term = term_of(form);
    auto const weight = loss_weights<double>(rig.logits(*term).size());
    auto const analytic = rig.gradients(*term, weight);
    std::function<double()> const loss = [&] { return weighted_sum(weight, rig.logits(*term)); };
    CHECK_THAT(analytic.query, CloseTo(central_differences(rig.query, loss), 1e-8));
    CHECK_THAT(analytic.key, CloseTo(central_differences(rig.key, loss), 1e-8));
    CHECK_THAT(analytic.feature[0], CloseTo(central_differences(rig.feature[0], loss), 1e-8));
  }
}

TEST_CASE("grape_ap: never above 0 and rising towards the query, whose own column is untouched", "[grape_ap][law]") {
  auto rig = rig_of<double>(40, 40);
  auto const logits = rig.logits(*term_of({}));
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 40; ++i) {
      double last = 0;
      for (int j = i; j >= 0; --j) {
        double const bias = logits[(h * 40 + i) * 40 + j] - product(rig, h, i, j);
        if (j == i) REQUIRE(std::abs(bias) < 1e-15);
        REQUIRE(bias <= last + 1e-14);
        last = bias;
      }
    }
}

TEST_CASE("grape_ap: padding that holds NaN reaches no other token", "[grape_ap][documents]") {
  auto rig = rig_of<double>(17, 17);
  rig.hides = [](int i, int j) { return i < 4 || j < 4; };
  auto const term = term_of({});
  auto const weight = loss_weights<double>(rig.logits(*term).size());
  auto const before = rig.gradients(*term, weight).feature[0];
  for (int h = 0; h < 2; ++h)
    for (int n = 0; n < 4 * 4; ++n) rig.feature[0][h * 17 * 4 + n] = std::nan("");
  CHECK_THAT(rig.gradients(*term, weight).feature[0], CloseTo(before, 0));
}

TEST_CASE("grape_ap: near keys keep their digits in float32 at the end of a long row", "[grape_ap][precision]") {
  auto rig = rig_of<float>(3, 6000);
  auto exact = rig_of<double>(3, 6000);
  auto const found = rig.logits(*encoding_of("grape_ap", Form{}.options())->rows_float(heads_of(2, 3)));
  auto const wanted = exact.logits(*term_of({}));
  for (std::size_t n = 0; n < found.size(); ++n)
    REQUIRE(std::abs(found[n] - wanted[n]) < 2e-6 * (1 + std::abs(wanted[n])));
}

TEST_CASE("grape_ap: probes start at half of 1 / sqrt(model_dim); odd widths are refused", "[grape_ap]") {
  auto const p = encoding_of("grape_ap")->parameters(heads_of(3, 8, 400));
  REQUIRE(p.size() == 1);
  CHECK(p[0].name == "w_p");
  CHECK(p[0].shape == std::vector<std::size_t>{3, 8, 400});
  double square = 0;
  for (std::size_t i = 0; i < p[0].size(); ++i) square += std::pow(p[0].init(Stream(1, "w"), i), 2);
  CHECK(std::sqrt(square / p[0].size()) == Catch::Approx(0.5 / 20).epsilon(0.05));
  CHECK_THAT(refusal_of(*encoding_of("grape_ap", {{"p_dim", std::int64_t{5}}}), heads_of(2)),
             Catch::Matchers::ContainsSubstring("grape_ap.p_dim is 5, expected an even number"));
}
