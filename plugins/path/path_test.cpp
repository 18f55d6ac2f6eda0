#include "support/close_to.hpp"
#include "support/plugin.hpp"
#include "support/strips.hpp"

using namespace sextant;
using namespace sextant::test;

namespace path_test {
namespace {
/// Path with the gate numbers of the rig read as they are: gate 0 is beta, gate 1 the running sum of log forget gates.
template <class T>
StripRig<T> rig_of(int query_len, int key_len, int strip_rows, int dim = 6) {
  StripRig<T> rig{.heads = 2, .query_len = query_len, .key_len = key_len, .dim = dim, .strip_rows = strip_rows};
  rig.feature_widths = {dim};
  rig.gates = 2;
  rig.fill(3);
  for (double& b : rig.gate[0]) b = 2 / (1 + std::exp(-b));
  return rig;
}
std::unique_ptr<encoding::RowTerm<double>> term_of(int dim, Options options = {}) {
  return encoding_of("path", std::move(options))->rows_double(heads_of(2, dim));
}

/// s k_j^T H_{j+1} .. H_i q_i by the plain product, plus C_i - C_j times `forget`.
std::vector<double> by_the_formula(StripRig<double> const& rig, double forget = 0) {
  std::vector<double> out;
  for (int b = 0; b < rig.batch; ++b)
    for (int h = 0; h < rig.heads; ++h)
      for (int row = 0; row < rig.query_len; ++row)
        for (int j = 0; j < rig.key_len; ++j) {
          std::size_t const tokens = rig.head_row(b, h) * rig.key_len;
          int const i = rig.own(row), dim = rig.dim;
          double const* q = rig.query_of(b, h) + row * dim;
          std::vector<double> x(q, q + dim);
          for (int m = i; m > j; --m) {
            double const* f = rig.feature[0].data() + (tokens + m) * dim;
            double square = 1e-6, along = 0;
            for (int k = 0; k < dim; ++k) square += f[k] * f[k], along += f[k] * x[k];
            for (int k = 0; k < dim; ++k) x[k] -= rig.gate[0][tokens + m] * along * f[k] / square;
          }
          double dot = 0;
          for (int k = 0; k < dim; ++k) dot += rig.key_of(b, h)[j * dim + k] * x[k];
          double const bias = forget * (rig.gate[1][tokens + i] - rig.gate[1][tokens + j]);
          out.push_back(rig.hidden(row, j) ? 0 : rig.scale * dot + bias);
        }
  return out;
}
}  // namespace

TEST_CASE("path: logits are the explicit product, over many chunks and strips that divide none", "[path][paper]") {
  for (auto [query_len, key_len, rows] : {std::array{150, 150, 48}, {150, 150, 64}, {70, 200, 33}, {9, 9, 4}}) {
    auto rig = rig_of<double>(query_len, key_len, rows);
    INFO(query_len << " queries, " << key_len << " keys, strips of " << rows);
    CHECK_THAT(rig.logits(*term_of(6)), CloseTo(by_the_formula(rig), 1e-12));
  }
}

TEST_CASE("path: a few queries walk key by key to the same logits", "[path][streaming]") {
  for (int queries : {1, 8}) {
    auto rig = rig_of<double>(queries, 140, 3);
    CHECK_THAT(rig.logits(*term_of(6)), CloseTo(by_the_formula(rig), 1e-12));
  }
}

TEST_CASE("path: forgetting adds the difference of the running sums, times the scale if asked", "[path]") {
  auto rig = rig_of<double>(80, 80, 32);
  CHECK_THAT(rig.logits(*term_of(6, {{"forget", true}})), CloseTo(by_the_formula(rig, 1), 1e-12));
  CHECK_THAT(rig.logits(*term_of(6, {{"forget", true}, {"gate_scaled", true}})),
             CloseTo(by_the_formula(rig, rig.scale), 1e-12));
}

TEST_CASE("path: gradients agree with central differences", "[path][gradient]") {
  for (auto [length, queries, rows] : {std::array{67, 67, 32}, {70, 12, 5}}) {
    auto rig = rig_of<double>(queries, length, rows, 2);
    auto const term = term_of(2, {{"forget", true}, {"gate_scaled", true}});
    auto const weight = loss_weights<double>(rig.logits(*term).size());
    auto const analytic = rig.gradients(*term, weight);
    std::function<double()> const loss = [&] { return weighted_sum(weight, rig.logits(*term)); };
    INFO(length << " keys, " << queries << " queries");
    CHECK_THAT(analytic.query, CloseTo(central_differences(rig.query, loss), 1e-7));
    CHECK_THAT(analytic.key, CloseTo(central_differences(rig.key, loss), 1e-7));
    CHECK_THAT(analytic.feature[0], CloseTo(central_differences(rig.feature[0], loss), 1e-6));
    CHECK_THAT(analytic.gate[0], CloseTo(central_differences(rig.gate[0], loss), 1e-7));
    CHECK_THAT(analytic.gate[1], CloseTo(central_differences(rig.gate[1], loss), 1e-7));
  }
}

TEST_CASE("path: beta = 0 is the plain product, with gradients to match", "[path][law]") {
  auto rig = rig_of<double>(70, 70, 32);
  std::fill(rig.gate[0].begin(), rig.gate[0].end(), 0.0);
  auto const logits = rig.logits(*term_of(6));
  std::size_t at = 0;
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 70; ++i)
      for (int j = 0; j < 70; ++j, ++at) {
        double dot = 0;
        for (int k = 0; k < 6; ++k) dot += rig.query_of(0, h)[i * 6 + k] * rig.key_of(0, h)[j * 6 + k];
        if (j <= i) REQUIRE(logits[at] == Catch::Approx(rig.scale * dot).margin(1e-13));
      }
  auto const weight = loss_weights<double>(logits.size());
  auto const term = term_of(6);
  auto const analytic = rig.gradients(*term, weight);
  std::function<double()> const loss = [&] { return weighted_sum(weight, rig.logits(*term)); };
  CHECK_THAT(analytic.gate[0], CloseTo(central_differences(rig.gate[0], loss), 1e-7));
}

TEST_CASE("path: a key never grows on its way to the query, and keeps its length at beta = 2", "[path][law]") {
  // Queries that are the unit vectors read the carried key off the logits.
  int const dim = 6, length = 130;
  for (double beta : {0.7, 1.0, 2.0}) {
    auto rig = rig_of<double>(length, length, 48, dim);
    std::fill(rig.gate[0].begin(), rig.gate[0].end(), beta);
    rig.scale = 1;
    std::vector<std::vector<double>> along;
    for (int k = 0; k < dim; ++k) {
      for (std::size_t n = 0; n < rig.query.size(); ++n) rig.query[n] = n % dim == static_cast<std::size_t>(k);
      along.push_back(rig.logits(*term_of(dim, {{"l2_eps", 1e-15}})));
    }
    auto const norm = [&](int i, int j) {
      double square = 0;
      for (auto const& row : along) square += row[i * length + j] * row[i * length + j];
      return std::sqrt(square);
    };
    for (int j = 0; j < length; ++j)
      for (int i = j + 1; i < length; ++i) {
        INFO("beta " << beta << ", key " << j << ", query " << i);
        REQUIRE(norm(i, j) <= norm(i - 1, j) * (1 + 1e-12));
        if (beta == 2) REQUIRE(norm(i, j) == Catch::Approx(norm(j, j)).epsilon(1e-9));
      }
  }
}

TEST_CASE("path: what another document or padding holds, even NaN, changes no bit", "[path][documents]") {
  // Keys 0 .. 9 are padding, 10 .. 69 one document, 70 .. 129 another.
  auto const document = [](int i) { return i < 10 ? -1 : i < 70 ? 0 : 1; };
  auto rig = rig_of<double>(130, 130, 48);
  rig.hides = [&](int i, int j) { return document(i) != document(j) || document(i) < 0; };
  auto const term = term_of(6, {{"forget", true}});
  auto const weight = loss_weights<double>(rig.logits(*term).size());
  auto const before = rig.logits(*term);
  auto const gradient = rig.gradients(*term, weight);
  std::size_t const row = 130 * 6;
  for (int h = 0; h < 2; ++h)
    for (int j = 0; j < 70; ++j) {
      for (int k = 0; k < 6; ++k) {
        double const alien = j < 10 ? std::nan("") : 7.0 * j + k;
        for (auto* x : {&rig.query, &rig.key, &rig.feature[0]})
          if (!(x == &rig.key && h == 1)) (*x)[h * row + j * 6 + k] = alien;
      }
      rig.gate[0][h * 130 + j] = rig.gate[1][h * 130 + j] = j < 10 ? std::nan("") : 0.3;
    }
  auto const after = rig.logits(*term);
  auto const gradient_after = rig.gradients(*term, weight);
  auto const same = [&](std::vector<double> const& x, std::vector<double> const& y, std::size_t at) {
    INFO("element " << at << ": " << x[at] << " and " << y[at]);
    REQUIRE(x[at] == y[at]);
  };
  for (int h = 0; h < 2; ++h)
    for (int i = 70; i < 130; ++i) {
      for (int j = 70; j <= i; ++j) same(before, after, (h * 130 + i) * 130 + j);
      for (int k = 0; k < 6; ++k) {
        std::size_t const at = h * row + i * 6 + k;
        same(gradient.query, gradient_after.query, at);
        same(gradient.feature[0], gradient_after.feature[0], at);
        if (h == 0) same(gradient.key, gradient_after.key, at);
      }
      for (int g : {0, 1}) same(gradient.gate[g], gradient_after.gate[g], h * 130 + i);
    }
  for (int j = 0; j < 10; ++j) CHECK(gradient_after.gate[0][j] == 0);
}

TEST_CASE("path: float32 stays close to the explicit product over a thousand tokens", "[path][precision]") {
  auto exact = rig_of<double>(40, 1000, 40, 16);
  auto rig = rig_of<float>(40, 1000, 40, 16);
  auto const term = encoding_of("path")->rows_float(heads_of(2, 16));
  auto const found = rig.logits(*term);
  CHECK_THAT(std::vector<double>(found.begin(), found.end()), CloseTo(by_the_formula(exact), 2e-5));
}

TEST_CASE("path: parameters are a bottleneck, a convolution and a gate; options that do nothing are refused",
          "[path]") {
  auto const p = encoding_of("path")->parameters(heads_of(2, 8, 16));
  std::vector<std::string> names;
  for (auto const& info : p) names.push_back(info.name);
  CHECK(names == std::vector<std::string>{"beta_weight", "beta_bias", "w_down", "w_up", "w_conv"});
  CHECK(encoding_of("path", {{"forget", true}})->parameters(heads_of(2, 8, 16)).size() == 7);
  CHECK_THAT(refusal_of(*encoding_of("path", {{"gate_scaled", true}}), heads_of(2)),
             Catch::Matchers::ContainsSubstring("path.gate_scaled is true and path.forget is false"));
}
}  // namespace path_test
