#include "support/row_laws.hpp"

using namespace sextant;
using namespace sextant::test;

namespace dape_test {
namespace {
RowSetting dape(char const* base, int width = 5) {
  return {.encoding = "dape",
          .options = {{"base", std::string(base)}, {"width", std::int64_t{width}}},
          .heads = 4,
          .kv_heads = 2};
}
double bias(RowRig<double>& rig, int h, double d) {
  std::string const base = std::get<std::string>(rig.setting.options.at("base"));
  if (base == "none") return 0;
  if (base == "alibi") return -std::exp2(-2.0 * (h + 1)) * std::abs(d);  // four heads: 1/4, 1/16, 1/64, 1/256
  return -std::max(0.01, rig.tensor("r1")[h]) * std::log(1 + std::max(0.01, rig.tensor("r2")[h]) * std::abs(d));
}
/// logit + B + f(logits, B) for each pair, as the paper writes it.
RowRig<double>::Outcome expected(RowRig<double>& rig) {
  int const heads = rig.setting.heads, width = static_cast<int>(rig.tensor("b1").size());
  bool const biased = std::get<std::string>(rig.setting.options.at("base")) != "none";
  int const inputs = biased ? 2 * heads : heads;
  return rig.plain([&](int b, int h, int i, int j) {
    std::vector<double> y;
    for (int g = 0; g < heads; ++g) y.push_back(rig.setting.scale * rig.product(b, g, i, j));
    for (int g = 0; g < heads && biased; ++g) y.push_back(bias(rig, g, rig.distance(b, i, j)));
    double sum = y[h] + (biased ? y[heads + h] : 0) + rig.tensor("b2")[h];
    for (int u = 0; u < width; ++u) {
      double t = rig.tensor("b1")[u];
      for (int n = 0; n < inputs; ++n) t += rig.tensor("w1")[u * inputs + n] * y[n];
      sum += rig.tensor("w2")[h * width + u] * (t > 0 ? t : 0.01 * t);
    }
    return sum;
  });
}
}  // namespace

TEST_CASE("dape: logits are those of the paper's network, in plain loops", "[dape][paper]") {
  auto setting = dape(GENERATE("kerple", "alibi", "none"));
  SECTION("causal") {}
  SECTION("more pairs than go through the network at once") { setting.length = 150, setting.batch = 1; }
  SECTION("bidirectional") { setting.causal = false; }
  SECTION("packed documents") { setting = packed(setting); }
  SECTION("positions that are far apart") { setting.positions = {{0, 1, 2, 3, 90000, 90001, 90002, 7, 8}}; }
  SECTION("fractions of a token") { setting.positions = {{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}}; }
  RowRig<double> rig(setting);
  auto const plain = expected(rig), found = rig.attend();
  CHECK_THAT(found.logits.value, CloseTo(plain.logits.value, 1e-12));
  CHECK_THAT(found.out.value, CloseTo(plain.out.value, 1e-12));
}

TEST_CASE("dape: gradients of the network, the bias, query and key", "[dape][gradient]") {
  check_gradients_everywhere(dape(GENERATE("kerple", "alibi", "none")));
}

TEST_CASE("dape: gradients at fractions of a token", "[dape][gradient]") {
  auto setting = dape("kerple");
  setting.positions = {{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}};
  check_gradients(setting);
}

TEST_CASE("dape: strips, chunks, documents and single precision", "[dape][law]") {
  check_cuts(dape("kerple"));
  check_documents(dape("kerple"));
  check_single(dape("kerple"), 5e-5);
}

TEST_CASE("dape: positions enter by their offsets alone", "[dape][law]") {
  check_translation(dape(GENERATE("kerple", "alibi")), {0, 1, 2, 5, 6, 6, 3, 4, 30});
}

TEST_CASE("dape: a network of zeros leaves the base bias, and without a base nothing", "[dape][law]") {
  for (char const* base : {"kerple", "alibi", "none"}) {
    RowRig<double> rig(dape(base));
    for (char const* name : {"w1", "b1", "w2", "b2"}) std::fill(rig.tensor(name).begin(), rig.tensor(name).end(), 0.0);
    auto const plain = rig.plain([&](int b, int h, int i, int j) {
      return rig.setting.scale * rig.product(b, h, i, j) + bias(rig, h, rig.distance(b, i, j));
    });
    CHECK_THAT(rig.attend().logits.value, CloseTo(plain.logits.value, 1e-13));
  }
}

TEST_CASE("dape: numbers of the base out of bounds act as the bound", "[dape]") {
  RowRig<double> rig(dape("kerple")), bound(dape("kerple"));
  rig.tensor("r1") = rig.tensor("r2") = {-1, 0, 0.5, 2};
  bound.tensor("r1") = bound.tensor("r2") = {0.01, 0.01, 0.5, 2};
  CHECK(rig.attend().logits.value == bound.attend().logits.value);
  auto const slopes = rig.analytic();
  CHECK((slopes.tensors[4][0] == 0 && slopes.tensors[5][1] == 0 && slopes.tensors[4][2] != 0));
}

TEST_CASE("dape: a network a layer, starting as the released code does", "[dape][paper]") {
  auto const p = encoding_of("dape")->parameters(heads_of(8));
  REQUIRE(p.size() == 6);
  CHECK(p[0].shape == std::vector<std::size_t>{32, 16});
  CHECK(p[2].shape == std::vector<std::size_t>{8, 32});
  double most = 0, square = 0;
  for (std::size_t i = 0; i < p[0].size(); ++i) {
    double const w = p[0].init(Stream(1, "w"), i);
    most = std::max(most, std::abs(w)), square += w * w;
  }
  CHECK(most <= 0.25);
  CHECK(std::sqrt(square / p[0].size()) == Catch::Approx(0.25 / std::sqrt(3)).epsilon(0.1));
  for (int h = 0; h < 8; ++h) {
    double const r1 = p[4].init(Stream(1, "r"), h), r2 = p[5].init(Stream(1, "r"), h);
    CHECK((r1 >= 0.01 && r1 < 2 && r2 >= 0.01 && r2 < 1));
  }
  CHECK(encoding_of("dape", {{"base", std::string("none")}})->parameters(heads_of(8)).size() == 4);
}
}  // namespace dape_test
