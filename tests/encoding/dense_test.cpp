// Maps of query and key beyond turns of pairs, and positions of several coordinates, as a model meets them: streaming,
// packed documents, gradients, beside biases and inside direct sums.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using encoding::Choice;
using encoding::Options;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace dense_test {
namespace {
using List = std::vector<double>;
using Word = std::string;

struct Case {
  std::string name;
  encoding::PositionChoice choice;
  bool per_head = false;  ///< needs as many key heads as query heads
};
std::vector<Case> cases() {
  Options const frames{{"grid", List{2, 2}}, {"sections", List{1, 1, 1}}};
  Choice const liere{"liere", {{"axes", std::int64_t{2}}, {"block", std::int64_t{4}}, {"grid", List{4, 3}}}, {}};
  return {
      {"grape_m_rank2", block("grape_m_rank2"), true},
      {"grape_m_rank2 tied", block("grape_m_rank2", {{"b_is_Ja", true}}), true},
      {"grape_m_basis", block("grape_m_basis", {{"per_head", false}})},
      {"thin", block("grape_m_noncommuting", {{"rank", std::int64_t{4}}}), true},
      {"planes", block("grape_m_noncommuting", {{"form", Word("planes")}, {"planes", std::int64_t{3}}}), true},
      {"liere", block("liere", {{"per_head", false}})},
      {"liere on a grid", test::sum({liere}), true},
      {"pope", block("pope", {{"bias_init", Word("uniform")}})},
      {"fope", block("fope", {{"trained_length", 20.0}, {"per_head", false}})},
      {"rope2d", block("rope2d", {{"grid", List{5}}})},
      {"rope2d mixed", block("rope2d", {{"grid", List{5}}, {"kind", Word("mixed")}}), true},
      {"rope2d kronecker", block("rope2d", {{"grid", List{5}}, {"kind", Word("kronecker")}})},
      {"rope3d", test::sum({{"rope3d", frames, {}}})},
      {"liere and alibi", test::sum({{"liere", {{"per_head", false}}, {}}, {"alibi", {}, {}}})},
      {"pope beside rope in a head", test::sum({{"direct_sum",
                                                 {{"shares", List{1, 1}}},
                                                 {{"pope", {{"bias_init", Word("uniform")}}, {}}, {"rope", {}, {}}}}})},
      {"basis and liere in their own heads",
       test::sum({{"direct_sum",
                   {{"over", Word("heads")}, {"shares", List{1, 1}}},
                   {{"grape_m_basis", {}, {}}, {"liere", {}, {}}}}}),
       true},
  };
}
double apart(List const& a, List const& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, size = 0;
  for (double y : b) size = std::max(size, std::abs(y));
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst / (1 + size);
}
}  // namespace

TEST_CASE("maps: chunks through a cache give what the whole row gives", "[encoding][dense][streaming]") {
  for (auto const& c : cases()) DYNAMIC_SECTION(c.name) {
      Setting s{c.choice};
      s.length = 24;
      s.kv_heads = c.per_head ? 4 : 2;
      Rig rig(s);
      auto const whole = rig.attend();
      for (int size : {1, 7}) CHECK_THAT(rig.attend_in_chunks(size), CloseTo(whole, 1e-12));
    }
}

TEST_CASE("maps: restarted positions, packed documents and left padding stream too", "[encoding][dense][streaming]") {
  for (auto const& c : cases()) DYNAMIC_SECTION(c.name) {
      Setting s{c.choice};
      s.length = 8;
      s.positions = {{0, 1, 2, 0, 1, 2, 3, 4}, {1, 1, 0, 1, 2, 3, 4, 5}};
      s.documents = {{0, 0, 0, 1, 1, 1, 1, 1}, {-1, -1, 0, 0, 0, 0, 0, 0}};
      Rig rig(s);
      CHECK_THAT(rig.attend_in_chunks(3), CloseTo(rig.attend(), 1e-12));
    }
}

TEST_CASE("maps: gradients of inputs and parameters agree with central differences", "[encoding][dense][gradient]") {
  for (auto const& c : cases()) DYNAMIC_SECTION(c.name) {
      Setting s{c.choice};
      s.heads = 2;
      s.kv_heads = c.per_head ? 2 : 1;
      s.length = 5;
      Rig rig(s);
      auto const exact = rig.analytic(), measured = rig.numeric();
      CHECK(apart(exact.q, measured.q) < 2e-8);
      CHECK(apart(exact.k, measured.k) < 2e-8);
      for (std::size_t n = 0; n < exact.parameters.size(); ++n) {
        INFO(rig.binding.slots()[n].name);
        CHECK(apart(exact.parameters[n], measured.parameters[n]) < 5e-8);
        double size = 0;
        for (double g : exact.parameters[n]) size += std::abs(g);
        CHECK(size > 1e-6);
      }
    }
}

TEST_CASE("maps: a shift of a coordinate moves no logit of a direct sum of axes, and a wrapped one does",
          "[encoding][dense][law]") {
  auto const logits = [](Options options, double from) {
    options["grid"] = List{8};
    Setting s{block("rope2d", std::move(options))};
    s.length = 6;
    s.positions = {{}};
    for (int i = 0; i < 6; ++i) s.positions[0].push_back(from + (i % 3) + 8 * (i / 3));  // three columns of two rows
    return Rig(s).logits();
  };
  for (Word kind : {"axial", "mixed", "kronecker"}) {
    CHECK_THAT(logits({{"kind", kind}}, 4), CloseTo(logits({{"kind", kind}}, 0), 1e-12));   // to the right
    CHECK_THAT(logits({{"kind", kind}}, 80), CloseTo(logits({{"kind", kind}}, 0), 1e-12));  // ten rows down
    auto const wrapped = logits({{"kind", kind}}, 6), plain = logits({{"kind", kind}}, 0);
    CHECK(apart(wrapped, plain) > 1e-3);
  }
}

TEST_CASE("maps: a scaling slows every axis alike", "[encoding][dense]") {
  Choice const frames{"rope3d", {{"grid", List{2, 2}}, {"sections", List{1, 1, 2}}}, {}};
  Rig plain({test::sum({frames})}), slow({test::scaled(frames, {"linear", {{"factor", 4.0}}, {}})});
  auto const before = plain.binding.frequencies(0, 0).inv_freq, after = slow.binding.frequencies(0, 0).inv_freq;
  REQUIRE(before.size() == 12);
  for (std::size_t n = 0; n < before.size(); ++n) CHECK(after[n] == before[n] / 4);
}

TEST_CASE("maps: several coordinates are refused where a position is one number", "[encoding][dense]") {
  for (char const* name : {"rope2d", "rope3d", "liere"}) {
    Options options;
    if (Word(name) == "rope3d") options["sections"] = List{1, 1, 1};
    if (Word(name) == "liere") options["axes"] = std::int64_t{2};
    Setting s{block(name, options)};
    CHECK_THROWS_WITH(Rig(s).logits(), Catch::Matchers::ContainsSubstring(Word(name) + ".grid"));
  }
}
}  // namespace dense_test
