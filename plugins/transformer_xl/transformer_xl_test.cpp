#include "support/row_laws.hpp"

using namespace sextant;
using namespace sextant::test;

namespace transformer_xl_test {
namespace {
RowSetting xl(int rel_dim = 10) {
  return {.encoding = "transformer_xl", .options = {{"rel_dim", std::int64_t{rel_dim}}, {"base", 100.0}}};
}
/// The paper's four terms for each pair.
RowRig<double>::Outcome expected(RowRig<double>& rig, int rel_dim) {
  int const dim = rig.setting.dim, pairs = rel_dim / 2;
  auto const &w = rig.tensor("w_r"), &u = rig.tensor("u"), &v = rig.tensor("v_bias");
  return rig.plain([&](int b, int h, int i, int j) {
    double const d = rig.distance(b, i, j);
    double sum = 0;
    for (int c = 0; c < dim; ++c) {
      double place = 0;
      for (int f = 0; f < pairs; ++f) {
        double const t = std::pow(100.0, -2.0 * f / rel_dim);
        place += w[(h * dim + c) * rel_dim + f] * std::sin(d * t);
        place += w[(h * dim + c) * rel_dim + pairs + f] * std::cos(d * t);
      }
      double const q = rig.q(b, h, i, c);
      sum += (q + u[h * dim + c]) * rig.k(b, rig.kv_head(h), j, c) + (q + v[h * dim + c]) * place;
    }
    return rig.setting.scale * sum;
  });
}
}  // namespace

TEST_CASE("transformer_xl: logits are the paper's four terms, in plain loops", "[transformer_xl][paper]") {
  auto setting = xl();
  SECTION("causal") {}
  SECTION("causal, over more than one block of distances") { setting.length = 150; }
  SECTION("bidirectional") { setting.causal = false; }
  SECTION("few rows, as in decoding") { setting.length = 150, setting.queries = 1; }
  SECTION("packed documents") { setting = packed(setting); }
  SECTION("positions that repeat, restart and jump") {
    setting.positions = {{5, 5, 6, 7, 2, 3, 400, 401, 3}, {0, 2, 4, 6, 8, 8, 7, 6, 5}};
    setting.causal = false;
  }
  RowRig<double> rig(setting);
  auto const plain = expected(rig, 10), found = rig.attend();
  CHECK_THAT(found.logits.value, CloseTo(plain.logits.value, 1e-12));
  CHECK_THAT(found.out.value, CloseTo(plain.out.value, 1e-12));
}

TEST_CASE("transformer_xl: gradients of W, u, v, query and key", "[transformer_xl][gradient]") {
  check_gradients_everywhere(xl(4));
}

TEST_CASE("transformer_xl: strips, chunks, documents and single precision", "[transformer_xl][law]") {
  check_cuts(xl());
  check_documents(xl());
  check_single(xl());
}

TEST_CASE("transformer_xl: positions enter by their offsets alone", "[transformer_xl][law]") {
  check_translation(xl(), {0, 1, 2, 5, 6, 6, 3, 4, 300});
}

TEST_CASE("transformer_xl: without u, v and W it is nope", "[transformer_xl][law]") {
  RowRig<double> rig(xl());
  for (auto& tensor : rig.tensors) std::fill(tensor.begin(), tensor.end(), 0.0);
  auto const nope = rig.plain([&](int b, int h, int i, int j) { return rig.setting.scale * rig.product(b, h, i, j); });
  CHECK_THAT(rig.attend().out.value, CloseTo(nope.out.value, 1e-13));
}

TEST_CASE("transformer_xl: its tables follow the tensors", "[transformer_xl]") {
  RowRig<double> rig(xl());
  (void)rig.attend();
  for (double& w : rig.tensor("w_r")) w *= -2;
  CHECK_THAT(rig.attend().logits.value, CloseTo(expected(rig, 10).logits.value, 1e-12));
  RowRig<double> longer(xl());
  longer.tensors = rig.tensors;
  longer.term = std::move(rig.term);  // the same term, now over other distances
  for (double& p : longer.setting.positions.emplace_back(9, 0.0)) p = 70 * (&p - longer.setting.positions[0].data());
  CHECK_THAT(longer.attend().logits.value, CloseTo(expected(longer, 10).logits.value, 1e-12));
}

TEST_CASE("transformer_xl: W is a layer's own, u and v are the model's unless untied", "[transformer_xl][paper]") {
  auto const shape = heads_of(3, 8, 24);
  auto const p = encoding_of("transformer_xl")->parameters(shape);
  REQUIRE(p.size() == 3);
  CHECK(p[0].name == "w_r");
  CHECK(p[0].shape == std::vector<std::size_t>{3, 8, 24});
  CHECK(p[1].shape == std::vector<std::size_t>{3, 8});
  CHECK((p[0].per_layer && !p[1].per_layer && !p[2].per_layer));
  double square = 0;
  for (std::size_t i = 0; i < p[0].size(); ++i) square += std::pow(p[0].init(Stream(1, "w"), i), 2);
  CHECK(std::sqrt(square / p[0].size()) == Catch::Approx(0.02).epsilon(0.15));
  auto const untied = encoding_of("transformer_xl", {{"untie", true}})->parameters(shape);
  CHECK((untied[1].per_layer && untied[2].per_layer));
}

TEST_CASE("transformer_xl: odd widths and fractions of a token are refused", "[transformer_xl]") {
  CHECK_THAT(refusal_of(*encoding_of("transformer_xl", {{"rel_dim", std::int64_t{7}}}), heads_of(1)),
             Catch::Matchers::ContainsSubstring("transformer_xl.rel_dim is 7, expected an even number"));
  auto setting = xl();
  setting.positions = {{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}};
  CHECK_THROWS_WITH(RowRig<double>(setting).attend(), Catch::Matchers::ContainsSubstring("expected whole positions"));
}
}  // namespace transformer_xl_test
