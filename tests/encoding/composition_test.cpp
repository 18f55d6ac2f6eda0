// Encodings side by side: sums, direct sums, scalings on top, and the pairs that are refused.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"
#include "support/complaint.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using Catch::Matchers::ContainsSubstring;
using encoding::Choice;
using encoding::Options;
using test::block;
using test::CloseTo;
using test::complaint;
using test::Rig;
using test::Setting;

namespace {
Choice const rope{"rope", {}, {}}, alibi{"alibi", {}, {}}, grape{"grape_m", {}, {}};

Choice split(char const* over, std::vector<double> shares, std::vector<Choice> parts, Options more = {}) {
  more["over"] = std::string(over);
  more["shares"] = std::move(shares);
  return {"direct_sum", more, std::move(parts)};
}
std::vector<double> logits(encoding::PositionChoice choice, int heads = 4) {
  Setting s{std::move(choice)};
  s.heads = s.kv_heads = heads;
  return Rig(s).logits();
}
std::vector<double> plus(std::vector<double> a, std::vector<double> const& b, double sign = 1) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += sign * b[i];
  return a;
}
std::string refusal(encoding::PositionChoice choice, int heads = 4, int kv_heads = 4) {
  return complaint([&] {
    Setting s{std::move(choice)};
    s.heads = heads;
    s.kv_heads = kv_heads;
    Rig const rig(s);
  });
}
}  // namespace

TEST_CASE("composition: a sum adds what each adds alone, in any order", "[encoding][composition]") {
  auto const plain = logits(block("nope")), turned = logits(block("rope")), biased = logits(block("alibi"));
  auto const expected = plus(turned, plus(biased, plain, -1));
  CHECK_THAT(logits(test::sum({rope, alibi})), CloseTo(expected, 1e-13));
  CHECK_THAT(logits(test::sum({alibi, rope})), CloseTo(expected, 1e-13));
  CHECK_THAT(logits(test::sum({alibi, alibi})), CloseTo(plus(biased, plus(biased, plain, -1)), 1e-13));
}

TEST_CASE("composition: a direct sum over channels is its parts at the ends", "[encoding][composition]") {
  auto const over = [](double a, double b) { return test::sum({split("channels", {a, b}, {rope, alibi})}); };
  CHECK_THAT(logits(over(0, 8)), CloseTo(logits(block("alibi")), 1e-13));
  CHECK_THAT(logits(over(8, 0)), CloseTo(logits(test::sum({rope, alibi})), 1e-13));
  Choice const partial{"rope", {{"rotary_dim", std::int64_t{6}}}, {}};
  CHECK_THAT(logits(over(3, 1)), CloseTo(logits(test::sum({partial, alibi})), 1e-13));
}

TEST_CASE("composition: a direct sum over heads is its parts at the ends, and head by head between",
          "[encoding][composition]") {
  auto const over = [](double a, double b, char const* slopes) {
    return test::sum({split("heads", {a, b}, {rope, alibi}, {{"slope_set", std::string(slopes)}})});
  };
  auto const turned = logits(block("rope")), biased = logits(block("alibi"));
  CHECK_THAT(logits(over(4, 0, "subset")), CloseTo(turned, 1e-13));
  CHECK_THAT(logits(over(0, 4, "subset")), CloseTo(biased, 1e-13));
  auto const full = logits(over(1, 3, "full"));
  std::size_t const head = 81;  // 9 x 9 logits
  for (std::size_t at = 0; at < full.size(); ++at)
    CHECK(full[at] == Catch::Approx(at / head % 4 == 0 ? turned[at] : biased[at]).margin(1e-12));
  CHECK(logits(over(1, 3, "subset")) != full);
}

TEST_CASE("composition: two rotary encodings may share a head only on channels of their own",
          "[encoding][composition]") {
  CHECK_THAT(
      refusal(test::sum({rope, grape})),
      ContainsSubstring("rope and grape_m would both turn the same channels") && ContainsSubstring("direct_sum"));
  CHECK_THAT(refusal(test::sum({rope, rope})), ContainsSubstring("rope and rope_2"));
  auto const both = logits(test::sum({split("channels", {1, 1}, {rope, grape})}));
  CHECK(both.size() == logits(block("rope")).size());
  CHECK_THAT(refusal(test::sum({split("channels", {1, 1}, {rope, alibi}), rope})), ContainsSubstring("same channels"));
}

TEST_CASE("composition: shares that do not divide, parts that do not match and heads that share keys are refused",
          "[encoding][composition]") {
  CHECK_THAT(refusal(test::sum({split("channels", {1, 2}, {rope, alibi})})),
             ContainsSubstring("direct_sum gives part 1 of 2 2.66667 of 8 channels, expected a whole number"));
  CHECK_THAT(refusal(test::sum({split("heads", {1}, {rope, alibi})})), ContainsSubstring("shares has 1 entries"));
  CHECK_THAT(refusal(test::sum({split("heads", {0, 0}, {rope, alibi})})), ContainsSubstring("sum to 0"));
  CHECK_THAT(refusal(test::sum({split("heads", {1, 3}, {rope, alibi})}), 4, 2),
             ContainsSubstring("share key heads with another part"));
  CHECK_THAT(refusal(test::sum({split("channels", {5, 3}, {rope, alibi})})),
             ContainsSubstring("rope.share 1 of head_dim 5"));
  CHECK_THAT(refusal(block("grape_m", {{"per_head", true}}), 4, 2), ContainsSubstring("as many key heads"));
}

TEST_CASE("composition: a scaling needs rotary frequencies, and says which encoding has none",
          "[encoding][composition]") {
  CHECK_THAT(refusal(test::scaled(alibi, {"linear", {{"factor", 2.0}}, {}})),
             ContainsSubstring("linear scales rotary frequencies, and alibi has none"));
  CHECK_THAT(refusal(test::scaled(rope, {"yarn", {{"factor", 2.0}}, {}})),
             ContainsSubstring("yarn cannot scale rope") && ContainsSubstring("original_length"));
  for (char const* name : {"linear", "ntk", "yarn"})
    CHECK_THAT(refusal(test::scaled(rope, {name, {{"factor", encoding::Auto{}}}, {}})),
               ContainsSubstring("factor is auto, and the trained length it follows from is not known"));
  Choice const segments{
      "segmented_theta", {{"seg_start", std::vector<double>{0}}, {"seg_base", std::vector<double>{50}}}, {}};
  CHECK_THAT(refusal(test::scaled(segments, {"yarn", {{"factor", 2.0}}, {}}, 64)), ContainsSubstring("base"));
  Choice const narrow{"rope", {{"rotary_dim", std::int64_t{2}}}, {}};
  CHECK_THAT(refusal(test::scaled(narrow, {"ntk", {{"factor", 2.0}}, {}})), ContainsSubstring("two rotary pairs"));
}

TEST_CASE("composition: rotary widths that are odd, too wide or not whole are refused with what would do",
          "[encoding][composition][R25]") {
  auto const wide = [](Options options) {
    return complaint([&] {
      Setting s{block("rope", options)};
      s.head_dim = 64;
      Rig const rig(s);
    });
  };
  CHECK_THAT(wide({{"share", 0.3}}), ContainsSubstring("19.2") && ContainsSubstring("18") && ContainsSubstring("20"));
  CHECK_THAT(wide({{"rotary_dim", std::int64_t{19}}}),
             ContainsSubstring("rotary_dim is 19, expected an even number from 2 to 64"));
  CHECK_THAT(wide({{"rotary_dim", std::int64_t{66}}}), ContainsSubstring("rotary_dim is 66"));
  CHECK_THAT(wide({{"rotary_dim", std::int64_t{32}}, {"share", 0.5}}), ContainsSubstring("give one"));
  Setting s{block("rope", {{"share", 0.5}})};
  s.head_dim = 64;
  Rig const half(s);
  CHECK(half.position->terms()[0].encoding->rotary(half.position->terms()[0].shape).rotary_dim == 32);
}

TEST_CASE("composition: scaling by auto follows trained and target length; factor 1 changes nothing",
          "[encoding][composition][R15]") {
  auto const frequencies = [](encoding::PositionChoice choice, double target) {
    Setting s{std::move(choice)};
    s.target_length = target;
    Rig const rig(s);
    return rig.binding.frequencies(0, 0);
  };
  auto const plain = frequencies(block("rope"), 0).inv_freq;
  CHECK(plain[0] == 1);  // pair 0 turns by its position, not by twice that
  for (char const* name : {"linear", "ntk", "yarn"}) {
    INFO(name);
    Choice const by_need{name, {{"factor", encoding::Auto{}}}, {}};
    auto const at = [&](double target) { return frequencies(test::scaled(rope, by_need, 64), target); };
    CHECK(at(64).inv_freq == plain);
    CHECK(at(16).inv_freq == plain);
    CHECK(at(64).attention_factor == 1);
    auto const four = frequencies(test::scaled(rope, {name, {{"factor", 4.0}}, {}}, 64), 0);
    CHECK(at(256).inv_freq == four.inv_freq);
    CHECK(at(256).attention_factor == four.attention_factor);
    CHECK(four.inv_freq[3] == Catch::Approx(plain[3] / 4).epsilon(1e-12));  // the slowest pair slows by the factor
  }
}

TEST_CASE("composition: the base that was given survives every scaling", "[encoding][composition][R18]") {
  Choice const far{"rope", {{"base", 500000.0}}, {}};
  for (char const* name : {"linear", "ntk", "yarn"}) {
    Setting s{test::scaled(far, {name, {{"factor", 1.0}}, {}}, 64)};
    Rig const rig(s);
    auto const found = rig.binding.frequencies(0, 0);
    CHECK(found.form.base == 500000.0);
    CHECK(found.inv_freq[1] == Catch::Approx(std::pow(500000.0, -0.25)).epsilon(1e-14));
    CHECK(rig.position->terms()[0].encoding->choice().options.at("base") == encoding::Value(500000.0));
  }
}
