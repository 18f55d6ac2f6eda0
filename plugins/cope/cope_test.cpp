#include "support/row_laws.hpp"

using namespace sextant;
using namespace sextant::test;

namespace cope_test {
namespace {
RowSetting cope(int npos, bool emb_scaled = false) {
  return {.encoding = "cope", .options = {{"npos", std::int64_t{npos}}, {"emb_scaled", emb_scaled}}};
}
/// P before the clamp: how many keys from j up to the query's own count.
double soft_position(RowRig<double> const& rig, int b, int h, int i, int j) {
  double sum = 0;
  for (int m = j; m <= rig.own(i); ++m)
    if (rig.visible(b, i, m)) sum += 1 / (1 + std::exp(-rig.setting.scale * rig.product(b, h, i, m)));
  return sum;
}
RowRig<double>::Outcome expected(RowRig<double>& rig, int npos, bool emb_scaled = false) {
  auto const& e = rig.tensor("pos_emb");
  return rig.plain([&](int b, int h, int i, int j) {
    double const place = std::min(soft_position(rig, b, h, i, j), npos - 1.0), w = place - std::floor(place);
    double lower = 0, upper = 0;
    for (int c = 0; c < rig.setting.dim; ++c) {
      lower += rig.q(b, h, i, c) * e[static_cast<int>(std::floor(place)) * rig.setting.dim + c];
      upper += rig.q(b, h, i, c) * e[static_cast<int>(std::ceil(place)) * rig.setting.dim + c];
    }
    double const s = rig.setting.scale;
    return s * rig.product(b, h, i, j) + (emb_scaled ? s : 1) * ((1 - w) * lower + w * upper);
  });
}
/// P of every pair as the term has it: with e[n] = n u the position term is (q . u) P.
Array4 places(RowSetting const& setting, int npos) {
  RowRig<double> rig(setting);
  auto& e = rig.tensor("pos_emb");
  std::fill(e.begin(), e.end(), 0.0);
  auto const plain = rig.attend().logits;
  for (int n = 0; n < npos; ++n)
    for (int c = 0; c < setting.dim; ++c) e[n * setting.dim + c] = n * (c + 1.0);
  Array4 out = rig.attend().logits;
  for (int b = 0; b < setting.batch; ++b)
    for (int h = 0; h < setting.heads; ++h)
      for (int i = 0; i < rig.queries; ++i) {
        double along = 0;
        for (int c = 0; c < setting.dim; ++c) along += rig.q(b, h, i, c) * (c + 1.0);
        for (int j = 0; j < setting.length; ++j) out(b, h, i, j) = (out(b, h, i, j) - plain(b, h, i, j)) / along;
      }
  return out;
}
}  // namespace

TEST_CASE("cope: logits are those of the paper's sums, in plain loops", "[cope][paper]") {
  bool const emb_scaled = GENERATE(false, true);
  int const npos = GENERATE(2, 4, 40);
  auto setting = cope(npos, emb_scaled);
  SECTION("causal") {}
  SECTION("a long row, clamped for most of it") { setting.length = 150, setting.batch = 1; }
  SECTION("bidirectional: keys after the query lie at 0") { setting.causal = false; }
  SECTION("packed documents: keys of another do not count") { setting = packed(setting); }
  RowRig<double> rig(setting);
  auto const plain = expected(rig, npos, emb_scaled), found = rig.attend();
  CHECK_THAT(found.logits.value, CloseTo(plain.logits.value, 1e-12));
  CHECK_THAT(found.out.value, CloseTo(plain.out.value, 1e-12));
}

TEST_CASE("cope: gradients of the vectors, and through the gates of query and key", "[cope][gradient]") {
  bool const emb_scaled = GENERATE(false, true);
  int const npos = GENERATE(1, 3, 16);  // none, some and no places clamped
  CAPTURE(npos, emb_scaled);
  check_gradients_everywhere(cope(npos, emb_scaled), 2e-7);
}

TEST_CASE("cope: gradients over a row of several chunks", "[cope][gradient]") {
  auto setting = cope(30);
  setting.batch = setting.heads = setting.kv_heads = 1;
  setting.length = 140, setting.queries = 3, setting.dim = 2;
  check_gradients(setting, 2e-7);
}

TEST_CASE("cope: strips, chunks, documents and single precision", "[cope][law]") {
  check_cuts(cope(5));
  check_documents(cope(5));
  check_single(cope(16), 5e-5);
}

TEST_CASE("cope: one position is nope", "[cope][law]") {
  RowRig<double> rig(cope(1));
  auto const nope = rig.plain([&](int b, int h, int i, int j) { return rig.setting.scale * rig.product(b, h, i, j); });
  CHECK_THAT(rig.attend().out.value, CloseTo(nope.out.value, 1e-13));
}

TEST_CASE("cope: a token lies at its own gate, and places fall along the keys", "[cope][law]") {
  auto const setting = cope(16);
  RowRig<double> rig(setting);
  auto const place = places(setting, 16);
  for (int b = 0; b < setting.batch; ++b)
    for (int h = 0; h < setting.heads; ++h)
      for (int i = 0; i < setting.length; ++i) {
        double const gate = 1 / (1 + std::exp(-rig.setting.scale * rig.product(b, h, i, i)));
        CHECK(place(b, h, i, i) == Catch::Approx(gate).epsilon(1e-9));
        for (int j = 1; j <= i; ++j) CHECK(place(b, h, i, j) < place(b, h, i, j - 1));
      }
}

TEST_CASE("cope: position ids play no part", "[cope][law]") {
  auto setting = cope(5);
  check_translation(setting, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  auto const plain = RowRig<double>(setting).attend().out;
  setting.positions = {{7, 3, 3, 900, 0, 1.5, 2, 8, 8}};
  CHECK(RowRig<double>(setting).attend().out.value == plain.value);
}

TEST_CASE("cope: one table for all heads of a layer, starting at zero", "[cope][paper]") {
  auto const p = encoding_of("cope", {{"npos", std::int64_t{9}}})->parameters(heads_of(4, 24));
  REQUIRE(p.size() == 1);
  CHECK(p[0].name == "pos_emb");
  CHECK(p[0].shape == std::vector<std::size_t>{9, 24});
  CHECK((p[0].per_layer && !p[0].per_head));
  for (std::size_t i = 0; i < p[0].size(); ++i) CHECK(p[0].init(Stream(1, "e"), i) == 0);
}
}  // namespace cope_test
