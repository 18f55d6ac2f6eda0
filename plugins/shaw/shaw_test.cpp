#include "support/row_laws.hpp"

using namespace sextant;
using namespace sextant::test;

namespace shaw_test {
namespace {
RowSetting shaw(int max_rel, bool use_values = true) {
  return {.encoding = "shaw", .options = {{"max_rel", std::int64_t{max_rel}}, {"use_values", use_values}}};
}
/// Row of a table [2K + 1, width] for a distance query - key.
double const* row_of(std::vector<double> const& table, int reach, int width, double distance) {
  double const clipped = std::min<double>(reach, std::max<double>(-reach, -distance));
  return table.data() + static_cast<int>(clipped + reach) * width;
}
RowRig<double>::Outcome expected(RowRig<double>& rig, int reach, bool use_values = true) {
  auto const logit = [&](int b, int h, int i, int j) {
    double const* a = row_of(rig.tensor("rel_k"), reach, rig.setting.dim, rig.distance(b, i, j));
    double sum = rig.product(b, h, i, j);
    for (int c = 0; c < rig.setting.dim; ++c) sum += rig.q(b, h, i, c) * a[c];
    return rig.setting.scale * sum;
  };
  if (!use_values) return rig.plain(logit);
  return rig.plain(logit, [&](int b, int i, int j, int c) {
    return row_of(rig.tensor("rel_v"), reach, rig.setting.value_dim, rig.distance(b, i, j))[c];
  });
}
}  // namespace

TEST_CASE("shaw: logits and outputs are those of the paper's sums, in plain loops", "[shaw][paper]") {
  int const reach = GENERATE(0, 1, 3, 20);
  bool const use_values = GENERATE(true, false);
  auto setting = shaw(reach, use_values);
  SECTION("causal") {}
  SECTION("bidirectional") { setting.causal = false; }
  SECTION("packed documents") { setting = packed(setting); }
  SECTION("positions that repeat, restart and jump") {
    setting.positions = {{5, 5, 6, 7, 2, 3, 40, 41, 3}, {0, 2, 4, 6, 8, 8, 7, 6, 5}};
    setting.causal = false;
  }
  RowRig<double> rig(setting);
  auto const plain = expected(rig, reach, use_values), found = rig.attend();
  CHECK_THAT(found.logits.value, CloseTo(plain.logits.value, 1e-13));
  CHECK_THAT(found.out.value, CloseTo(plain.out.value, 1e-13));
}

TEST_CASE("shaw: gradients of both tables, query, key and value", "[shaw][gradient]") {
  check_gradients_everywhere(shaw(3));
}

TEST_CASE("shaw: strips, chunks, documents and single precision", "[shaw][law]") {
  check_cuts(shaw(3));
  check_documents(shaw(2));
  check_single(shaw(3));
}

TEST_CASE("shaw: positions enter by their offsets alone", "[shaw][law]") {
  check_translation(shaw(3), {0, 1, 2, 5, 6, 6, 3, 4, 30});
}

TEST_CASE("shaw: K = 0 without values is nope", "[shaw][law]") {
  RowRig<double> rig(shaw(0, false));
  auto const nope = rig.plain([&](int b, int h, int i, int j) { return rig.setting.scale * rig.product(b, h, i, j); });
  CHECK_THAT(rig.attend().out.value, CloseTo(nope.out.value, 1e-13));  // one vector for all keys: constant in a row
}

TEST_CASE("shaw: under the causal mask the vectors of keys ahead get no gradient", "[shaw][law]") {
  RowRig<double> rig(shaw(3));
  auto const slopes = rig.analytic();
  for (std::size_t n = 0; n < 2; ++n) {
    int const width = n == 0 ? rig.setting.dim : rig.setting.value_dim;
    double behind = 0;
    for (int at = 0; at < 4 * width; ++at) behind += std::abs(slopes.tensors[n][at]);
    CHECK(behind > 0.1);
    for (int at = 4 * width; at < 7 * width; ++at) CHECK(slopes.tensors[n][at] == 0);
  }
}

TEST_CASE("shaw: tables are shared by heads, a layer's own, Glorot-uniform", "[shaw][paper]") {
  auto shape = heads_of(4, 24);
  shape.value_dim = 10;
  auto const p = encoding_of("shaw", {{"max_rel", std::int64_t{20}}})->parameters(shape);
  REQUIRE(p.size() == 2);
  CHECK(p[0].name == "rel_k");
  CHECK(p[0].shape == std::vector<std::size_t>{41, 24});
  CHECK(p[1].shape == std::vector<std::size_t>{41, 10});
  double square = 0, most = 0;
  double const bound = std::sqrt(6.0 / (41 + 24));
  for (std::size_t i = 0; i < p[0].size(); ++i) {
    double const x = p[0].init(Stream(1, "s"), i);
    square += x * x, most = std::max(most, std::abs(x));
  }
  CHECK(most <= bound);
  CHECK(std::sqrt(square / p[0].size()) == Catch::Approx(bound / std::sqrt(3)).epsilon(0.1));
  for (auto const& info : p) {
    CHECK(info.per_layer);
    CHECK_FALSE(info.per_head);
  }
  CHECK(encoding_of("shaw", {{"use_values", false}})->parameters(shape).size() == 1);
}

TEST_CASE("shaw: fractions of a token are refused", "[shaw]") {
  auto setting = shaw(3);
  setting.positions = {{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}};
  CHECK_THROWS_WITH(RowRig<double>(setting).attend(), Catch::Matchers::ContainsSubstring("expected whole positions"));
}
}  // namespace shaw_test
