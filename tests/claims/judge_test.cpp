#include "study.hpp"

#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/results/compare.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using claims::By;
using claims::Outcome;
using claims::Verdict;
using test::claim;
using test::hand_made;
using test::HandMade;
using test::loss_of;

double noise(std::size_t a, std::size_t b, char const* name) { return Stream(5, name).normal(a * 1000 + b); }

// alibi is `lead` below rope; windows differ much and alike for both, seeds a little.
HandMade usual(double lead, double scatter = 0.004) {
  HandMade out;
  out.loss = [=](std::string const& arm, std::int64_t length, std::size_t seed, std::size_t window) {
    double const hard = 0.3 * noise(window, 0, "window"), own = scatter * noise(seed, window, arm.c_str());
    return 2 + hard + own + scatter * noise(seed, 77, arm.c_str()) - (arm == "alibi" && length > 256 ? lead : 0);
  };
  return out;
}

Outcome one(claims::Claim const& made, HandMade const& study) {
  return claims::judge({.family_error = 0.05, .list = {made}}, hand_made(study)).outcomes.at(0);
}

TEST_CASE("judge: a clear lead holds, its opposite fails, and no lead at all is undecided", "[claims]") {
  HandMade const clear = usual(0.2), none = usual(0.0, 0.05);
  for (By const by : {By::paired_bootstrap, By::paired_t}) {
    auto const verdict = [&](std::string const& test, HandMade const& study, double margin = 0) {
      return one(claim(test, margin, "nat/token", by), study).verdict;
    };
    std::string const alibi = loss_of("alibi"), rope = loss_of("rope");
    CHECK(verdict(alibi + " < " + rope, clear) == Verdict::holds);
    CHECK(verdict(rope + " > " + alibi, clear) == Verdict::holds);
    CHECK(verdict(alibi + " > " + rope, clear) == Verdict::fails);
    CHECK(verdict(alibi + " < " + rope, clear, 0.1) == Verdict::holds);
    CHECK(verdict(alibi + " < " + rope, clear, 0.4) == Verdict::fails);
    CHECK(verdict(alibi + " < " + rope, none) == Verdict::undecided);
    CHECK(verdict(alibi + " <= " + rope, clear, 0.02) == Verdict::holds);
    CHECK(verdict(rope + " <= " + alibi, clear, 0.02) == Verdict::fails);
    CHECK(verdict(rope + " >= " + alibi, clear, 0.02) == Verdict::holds);
    CHECK(verdict(alibi + " == " + rope, clear, 0.5) == Verdict::holds);
    CHECK(verdict(alibi + " == " + rope, clear, 0.05) == Verdict::fails);
    CHECK(verdict(loss_of("alibi", 256) + " == " + loss_of("rope", 256), clear, 0.05) == Verdict::holds);
    CHECK(verdict(rope + " < 3", clear) == Verdict::holds);
    CHECK(verdict(rope + " < 1", clear) == Verdict::fails);
  }
}

TEST_CASE("judge: no difference found is not equality: a wide interval is out of reach of a small margin", "[claims]") {
  auto const found = one(claim(loss_of("alibi") + " == " + loss_of("rope"), 0.001), usual(0.0, 0.05));
  CHECK(found.verdict == Verdict::out_of_reach);
  CHECK_THAT(found.reason, ContainsSubstring("too few seeds or windows for the margin"));
  CHECK(found.interval->half() > 0.001);
}

TEST_CASE("judge: by paired_t, effect, interval and p are those of the paired test over seeds", "[claims]") {
  HandMade const study = usual(0.01);
  auto const found = one(claim(loss_of("alibi") + " < " + loss_of("rope"), 0, "nat/token", By::paired_t), study);
  std::vector<double> left, right;
  for (std::size_t s = 0; s < 3; ++s) {
    left.push_back(0), right.push_back(0);
    for (std::size_t w = 0; w < 6; ++w)
      left[s] += study.loss("alibi", 1024, s, w) / 6, right[s] += study.loss("rope", 1024, s, w) / 6;
  }
  auto const expected = statistics::paired(left, right);
  CHECK_THAT(*found.effect, WithinRel(*expected.difference, 1e-9));
  CHECK_THAT(found.interval->low, WithinRel(expected.interval->low, 1e-8));
  CHECK_THAT(*found.p, WithinRel(*expected.p / 2, 1e-7));
  CHECK(found.seeds == 3);
  CHECK(found.windows == 0);
  CHECK(found.units == "nat/token");
}

TEST_CASE("judge: windows are paired by where they end, so that hard ones do not drown a lead", "[claims]") {
  HandMade const study = usual(0.05);
  auto const paired = one(claim(loss_of("alibi") + " < " + loss_of("rope")), study);
  CHECK(paired.verdict == Verdict::holds);
  CHECK(paired.windows == 6);
  CHECK(paired.interval->half() < 0.03);  // windows themselves scatter by 0.3
  auto group = hand_made(study);          // the second arm's windows in another order: pairing goes by id, not by place
  for (auto& [id, run] : group["runs"].groups) {
    if (!id.starts_with("rope")) continue;
    auto& eval = run["eval"]["lm_loss"];
    auto windows = eval.integers("window");
    auto values = eval.values<double>("mean_by_window");
    std::reverse(windows.begin(), windows.end());
    for (std::size_t l = 0; l < 2; ++l)
      std::reverse(values.begin() + static_cast<std::ptrdiff_t>(6 * l),
                   values.begin() + static_cast<std::ptrdiff_t>(6 * l + 6));
    eval.put("window", windows, "token", "end of each window");
    eval.put("mean_by_window", {2, 6}, values, "nat/token", "mean of each window").along({"length", "window"});
  }
  auto const again = claims::judge({.list = {claim(loss_of("alibi") + " < " + loss_of("rope"))}}, group).outcomes[0];
  CHECK(*again.p == *paired.p);
  CHECK_THAT(again.interval->low, WithinAbs(paired.interval->low, 1e-12));
}

TEST_CASE("judge: an ordering holds when every step does, and the weakest step is shown", "[claims]") {
  HandMade study = usual(0);
  study.arms = {"a", "b", "c"};
  auto const level = [](std::string const& arm) { return arm == "a" ? 1.0 : arm == "b" ? 1.3 : 1.35; };
  study.loss = [=](std::string const& arm, std::int64_t, std::size_t seed, std::size_t window) {
    return level(arm) + 0.004 * noise(seed, window, arm.c_str());
  };
  auto const found = one(claim(loss_of("a") + " < " + loss_of("b") + " < " + loss_of("c")), study);
  CHECK(found.verdict == Verdict::holds);
  CHECK(found.relation == 1);
  CHECK_THAT(*found.effect, WithinAbs(-0.05, 0.01));
  CHECK(one(claim(loss_of("a") + " < " + loss_of("c") + " < " + loss_of("b")), study).verdict == Verdict::fails);
}

TEST_CASE("judge: a margin in percent is one of the right side", "[claims]") {
  HandMade study = usual(0);
  study.loss = [](std::string const& arm, std::int64_t, std::size_t seed, std::size_t window) {
    return (arm == "alibi" ? 0.9 : 1.0) * (2 + 0.1 * noise(window, 0, "w")) + 0.001 * noise(seed, window, arm.c_str());
  };
  auto const found = one(claim(loss_of("alibi") + " < " + loss_of("rope"), 8, "%"), study);
  CHECK(found.verdict == Verdict::holds);
  CHECK(found.units == "%");
  CHECK_THAT(*found.effect, WithinAbs(-10, 0.2));
  CHECK(one(claim(loss_of("alibi") + " < " + loss_of("rope"), 12, "%"), study).verdict == Verdict::fails);
  CHECK(one(claim("exp(" + loss_of("alibi") + " - " + loss_of("rope") + ") < 0.9", 0, "1"), study).verdict ==
        Verdict::holds);
}

TEST_CASE("judge: what is missing is said, and never a verdict", "[claims]") {
  HandMade const study = usual(0.2);
  auto const reason = [&](claims::Claim const& made, HandMade const& of) {
    Outcome const out = one(made, of);
    CHECK(out.verdict == Verdict::out_of_reach);
    CHECK_FALSE(out.p);
    return out.reason;
  };
  std::string const test = loss_of("alibi") + " < " + loss_of("rope");
  CHECK_THAT(reason(claim(loss_of("fox") + " < " + loss_of("rope")), study),
             ContainsSubstring("encoding=fox, scaling=none} has not been measured"));
  CHECK_THAT(reason(claim(loss_of("rope", 4096) + " < 3"), study), ContainsSubstring("@ 4096"));
  HandMade alone = study;
  alone.seeds = {23};
  CHECK_THAT(reason(claim(test), alone), ContainsSubstring("one seed (23) has no spread"));
  HandMade narrow = study;
  narrow.windows = {100};
  CHECK_THAT(reason(claim(test), narrow), ContainsSubstring("one window"));
  HandMade old = study;
  old.by_window = false;
  CHECK_THAT(reason(claim(test), old), ContainsSubstring("measured before windows were kept"));
  CHECK(one(claim(test, 0, "nat/token", By::paired_t), old).verdict == Verdict::holds);
  HandMade diverged = study;
  diverged.loss = [=](std::string const& arm, std::int64_t length, std::size_t seed, std::size_t window) {
    return arm == "rope" && seed == 1 ? std::nan("") : study.loss(arm, length, seed, window);
  };
  CHECK_THAT(reason(claim(test), diverged), ContainsSubstring("not finite under seed 23"));
  auto other = hand_made(study);  // the arms were measured on other windows
  for (auto& [id, run] : other["runs"].groups)
    if (id.starts_with("rope"))
      run["eval"]["lm_loss"].put("window", std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}, "token", "end of each window");
  CHECK_THAT(claims::judge({.list = {claim(test)}}, other).outcomes[0].reason, ContainsSubstring("share no window"));
  claims::Claim elsewhere = claim(test);
  elsewhere.settled.clear();
  elsewhere.missing = "this tier cannot test it";
  CHECK(reason(elsewhere, study) == "this tier cannot test it");
}

// One model that is given, read with two arms on documents of very different difficulty.
HandMade given(std::size_t documents, double lead) {
  HandMade out;
  out.seeds = {0};
  out.windows.clear();
  for (std::size_t n = 0; n < documents; ++n) out.windows.push_back(static_cast<std::int64_t>(n));
  out.loss = [=](std::string const& arm, std::int64_t, std::size_t, std::size_t document) {
    return 3 + 0.3 * noise(document, 0, "document") + 0.01 * noise(document, 1, arm.c_str()) -
           (arm == "alibi" ? lead : 0);
  };
  return out;
}
Outcome about(claims::Sample sample, claims::Claim const& made, HandMade const& study) {
  return claims::judge({.list = {made}, .sample = sample}, hand_made(study)).outcomes.at(0);
}

TEST_CASE("judge: a model that is given is judged over documents, each once, by the paired test over them",
          "[claims]") {
  HandMade const study = given(8, 0.05);
  for (By const by : {By::paired_t, By::paired_bootstrap}) {
    auto const made = claim(loss_of("alibi") + " < " + loss_of("rope"), 0, "nat/token", by);
    auto const found = about(claims::Sample::documents, made, study);
    CHECK(found.verdict == Verdict::holds);
    CHECK(found.seeds == 0);
    CHECK(found.windows == 8);
    std::vector<double> left, right;
    for (std::size_t n = 0; n < 8; ++n) {
      left.push_back(study.loss("alibi", 1024, 0, n));
      right.push_back(study.loss("rope", 1024, 0, n));
    }
    auto const expected = statistics::paired(left, right);
    CHECK_THAT(*found.effect, WithinRel(*expected.difference, 1e-9));
    CHECK_THAT(found.interval->half(), WithinRel(expected.interval->half(), by == By::paired_t ? 1e-8 : 0.25));
    CHECK(about(claims::Sample::seeds, made, study).verdict == Verdict::out_of_reach);
  }
}

TEST_CASE("judge: four documents that agree hold nothing at one in twenty, five do", "[claims]") {
  auto const made = claim(loss_of("alibi") + " < " + loss_of("rope"));
  auto const four = about(claims::Sample::documents, made, given(4, 0.5));
  CHECK(*four.p == 1.0 / 16);
  CHECK(four.verdict == Verdict::undecided);
  CHECK_THAT(four.reason, ContainsSubstring("these documents show neither"));
  CHECK(about(claims::Sample::documents, made, given(5, 0.5)).verdict == Verdict::holds);
  auto const one_of_them = about(claims::Sample::documents, made, given(1, 0.5));
  CHECK(one_of_them.verdict == Verdict::out_of_reach);
  CHECK_THAT(one_of_them.reason, ContainsSubstring("needs 2 documents or more"));
  CHECK_THAT(about(claims::Sample::windows, made, given(1, 0.5)).reason, ContainsSubstring("needs 2 windows or more"));
}

TEST_CASE("judge: what the claims are about stays with them in the file", "[claims]") {
  auto const group = hand_made(given(8, 0.05));
  claims::Claims const list{.list = {claim(loss_of("alibi") + " < " + loss_of("rope"))},
                            .sample = claims::Sample::documents};
  auto const first = claims::to_group(claims::judge(list, group));
  CHECK(first.attribute<std::string>("sample") == "documents");
  auto const again = claims::judge(claims::claims_of(claims::from_group(first)), group);
  CHECK(results::differences(claims::to_group(again), first).empty());
  auto strange = first;
  strange.set("sample", "moons");
  CHECK_THROWS_WITH(claims::from_group(strange), ContainsSubstring("moons is none of seeds, windows, documents"));
}

TEST_CASE("judge: seeds that only one side has take no part", "[claims]") {
  auto group = hand_made(usual(0.2));
  group["runs"].groups.erase("rope-47");
  auto rows = results::table(group.group("summary/results"));
  std::erase_if(rows, [](auto const& row) { return row.run == "rope-47"; });
  group["summary"]["results"] = results::columns(rows);
  auto const found =
      claims::judge({.list = {claim(loss_of("alibi") + " < " + loss_of("rope"), 0, "nat/token", By::paired_t)}}, group);
  CHECK(found.outcomes[0].seeds == 2);
}

TEST_CASE("judge: Holm's correction runs over the claims that could be tested", "[claims]") {
  HandMade const study = usual(0.02, 0.006);
  claims::Claims list;
  for (double const margin : {0.0, 0.005, 0.01, 0.3}) {
    list.list.push_back(claim(loss_of("alibi") + " < " + loss_of("rope"), margin));
    list.list.back().id = text("m", margin);
  }
  list.list.push_back(claim(loss_of("fox") + " < 1"));
  auto const judged = claims::judge(list, hand_made(study));
  std::vector<double> p;
  for (int i = 0; i < 4; ++i) p.push_back(*judged.outcomes[static_cast<std::size_t>(i)].p);
  auto const adjusted = statistics::holm(p);
  for (std::size_t i = 0; i < 4; ++i) CHECK(*judged.outcomes[i].p_adjusted == adjusted[i]);
  CHECK(*judged.outcomes[0].p_adjusted >= *judged.outcomes[0].p);
  CHECK_FALSE(judged.outcomes[4].p_adjusted);
  CHECK(judged.outcomes[3].verdict == Verdict::fails);
}

TEST_CASE("judge: the same study gives the same bits, and the columns of a file give the outcomes back", "[claims]") {
  auto const group = hand_made(usual(0.02));
  claims::Claims list{.family_error = 0.1,
                      .list = {claim(loss_of("alibi") + " < " + loss_of("rope")), claim(loss_of("fox") + " < 1")}};
  auto const first = claims::to_group(claims::judge(list, group)),
             second = claims::to_group(claims::judge(list, group));
  CHECK(results::differences(first, second).empty());
  auto const back = claims::from_group(first);
  CHECK(back.family_error == 0.1);
  CHECK(results::differences(claims::to_group(back), first).empty());
  auto const again = claims::judge(claims::claims_of(back), group);
  CHECK(results::differences(claims::to_group(again), first).empty());
}

TEST_CASE("judge: lists of claims that are all false on the edge rarely hold one", "[claims][simulation]") {
  int wrong = 0;
  int const studies = 400;
  for (int k = 0; k < studies; ++k) {
    HandMade study;
    study.arms = {"base", "a", "b", "c"};
    study.windows = {1, 2};
    study.lengths = {64};
    study.loss = [k](std::string const& arm, std::int64_t, std::size_t seed, std::size_t window) {
      return 2 + 0.1 * noise(static_cast<std::size_t>(k), seed * 10 + window, arm.c_str());
    };
    claims::Claims list;
    for (char const* arm : {"a", "b", "c"})
      list.list.push_back(claim(loss_of(arm, 64) + " < " + loss_of("base", 64), 0, "nat/token", By::paired_t));
    bool any = false;
    for (auto const& outcome : claims::judge(list, hand_made(study)).outcomes)
      any = any || outcome.verdict == Verdict::holds;
    wrong += any;
  }
  CHECK(wrong <= 0.05 * studies + 3 * std::sqrt(0.05 * 0.95 * studies));
  CHECK(wrong > 0);
}
}  // namespace
}  // namespace sextant
