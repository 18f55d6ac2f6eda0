#include "made_up.hpp"

#include <sextant/base/error.hpp>
#include <sextant/spec/claims.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/temp_folder.hpp"

namespace sextant::claims_test {
namespace {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::string const study = R"(sextant: 1
study: claimed
model: {layers: 2, width: 64, heads: 4}
position: {scaling: none}
data: {corpus: kjv}
train: {steps: 100, length: 64, batch: 256 tokens, optimiser: {rate: 1e-3}, seeds: [0, 1]}
evaluate:
  - {use: lm_loss, lengths: [64, 128], windows: 8, keep: [mean, tail64]}
  - {use: lm_loss, name: window_control, lengths: [128], windows: 8, context: 64, keep: [tail64]}
vary:
  - {key: position.encoding, stage: train, values: [rope, alibi, [rope, alibi]]}
  - {key: train.steps, stage: train, where: {position.encoding: alibi}, values: [100, 200]}
  - key: position.scaling
    stage: evaluate
    where: {position.encoding: rope, evaluate: lm_loss}
    values: [none, {use: ntk, factor: auto}, {use: ntk, factor: 4, label: ntk-fixed}]
tiers:
  smoke: {evaluate.lm_loss.lengths: [64]}
  article: {evaluate.lm_loss.lengths: [64, 128, 1024]}
claims:
  list:
)";

spec::Spec read(std::string const& claims, spec::Overrides const& overrides = {}) {
  return spec::read_spec(study + claims, "f", overrides, test::made_up_plugins());
}
std::string item(std::string const& test, std::string const& rest = "") {
  return "    - {id: c, test: \"" + test + "\"" + rest + "}\n";
}
std::string settled(std::string const& test, std::string const& rest = "") {
  return read(item(test, rest)).claims.list.at(0).settled;
}

TEST_CASE("claims: quantities find their arm by the labels that tables show", "[spec][claims]") {
  CHECK(settled("lm_loss.mean @ 128 {encoding=rope} < 2") == "lm_loss.mean @ 128 {encoding=rope, scaling=none} < 2");
  CHECK(settled("lm_loss.tail64 @ 128 {scaling=ntk-fixed} < lm_loss.tail64 @ 128 {scaling=ntk}") ==
        "lm_loss.tail64 @ 128 {encoding=rope, scaling=ntk-fixed} < lm_loss.tail64 @ 128 {encoding=rope, scaling=ntk}");
  CHECK(settled("window_control.tail64 @ 128 {encoding=rope+alibi} < 2") ==
        "window_control.tail64 @ 128 {encoding=rope+alibi, scaling=none} < 2");
  CHECK(settled("lm_loss.mean @ 64 {encoding=alibi, steps=200} < 2") ==
        "lm_loss.mean @ 64 {encoding=\"alibi / steps=200\", scaling=none} < 2");
  CHECK(settled("lm_loss.mean @ 64 {position.encoding=alibi, train.steps=200} < 2") ==
        settled("lm_loss.mean @ 64 {encoding=alibi, steps=200} < 2"));
}

TEST_CASE("claims: what is left out has its default, and the resolved text reads back to the same claims",
          "[spec][claims]") {
  auto const spec =
      read(item("lm_loss.mean @ 64 {encoding=rope} < 2") +
           "    - {id: d, says: 'so: \"near\"', test: 'lm_loss.mean @ 64 {encoding=rope} == 2', margin: 5 %, by: "
           "paired_t}\n");
  CHECK(spec.claims.family_error == 0.05);
  auto const& plain = spec.claims.list.at(0);
  CHECK(plain.says == plain.test);
  CHECK(plain.margin.value == 0);
  CHECK(plain.margin.units == "nat/token");
  CHECK(plain.by == claims::By::paired_bootstrap);
  CHECK(plain.missing.empty());
  CHECK(spec.claims.list[1].margin.units == "%");
  CHECK_THAT(spec.resolved, ContainsSubstring("family_error: 0.05  # default\n"));
  CHECK_THAT(spec.resolved, ContainsSubstring("reach: here}  # default: says, source, margin, by, reach\n"));
  auto const again = spec::read_spec(spec.resolved, "f", {}, test::made_up_plugins());
  REQUIRE(again.claims.list.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again.claims.list[i].settled == spec.claims.list[i].settled);
    CHECK(again.claims.list[i].says == spec.claims.list[i].says);
    CHECK(again.claims.list[i].margin.value == spec.claims.list[i].margin.value);
    CHECK(again.claims.list[i].margin.units == spec.claims.list[i].margin.units);
    CHECK(again.claims.list[i].by == spec.claims.list[i].by);
  }
}

TEST_CASE("claims: a margin is an amount in the units of the sides, or a share of the right one", "[spec][claims]") {
  auto const margin = [](std::string const& test, std::string const& written) {
    return read(item(test, ", margin: " + written)).claims.list.at(0).margin;
  };
  std::string const loss = "lm_loss.mean @ 64 {encoding=rope} < 2", ratio = "lm_loss.mean @ 64 {encoding=rope} / 2 < 1";
  CHECK(margin(loss, "0.05 nat").value == 0.05);
  CHECK(margin(loss, "0.05nat/token").units == "nat/token");
  CHECK(margin(loss, "2 %").units == "%");
  CHECK(margin("exp(lm_loss.mean @ 64 {encoding=rope}) < 9", "0.5").units == "1");
  CHECK(margin(ratio, "0.1 nat").value == 0.1);  // half a loss is a loss
  CHECK_THROWS_MATCHES(margin(loss, "0.05"), Error, MessageMatches(ContainsSubstring("with its unit, as in 0.02 nat")));
}

TEST_CASE("claims: one that only another tier can test is kept, says so, and stays right when written out",
          "[spec][claims]") {
  std::string const far = item("lm_loss.mean @ 1024 {encoding=rope} < 2") +
                          "    - {id: near, test: 'lm_loss.mean @ 64 {encoding=rope} < 2'}\n";
  for (char const* tier : {"smoke", "small", "article"}) {
    auto const spec = read(far, {.tier = tier, .sets = {}});
    bool const reached = std::string(tier) == "article";
    CHECK(spec.claims.list.at(0).missing.empty() == reached);
    CHECK(spec.claims.list[0].settled.empty() != reached);
    CHECK(spec.claims.list[1].missing.empty());
    CHECK_THAT(spec.resolved, ContainsSubstring(reached ? "reach: here" : "reach: elsewhere"));
    auto const again = spec::read_spec(spec.resolved, "f", {}, test::made_up_plugins());
    CHECK(again.claims.list[0].missing.empty() == reached);
    CHECK(again.claims.list[1].settled == spec.claims.list[1].settled);
  }
  CHECK_THAT(
      read(far).claims.list[0].missing,
      ContainsSubstring("this tier cannot test it: lm_loss is not measured at 1024 tokens, expected one of [64, 128]"));
}

TEST_CASE("claims: an override may take a length away, and the claim about it waits", "[spec][claims]") {
  auto const spec =
      read(item("lm_loss.mean @ 128 {encoding=rope} < 2"), {.tier = {}, .sets = {"evaluate.lm_loss.lengths=[64]"}});
  CHECK_FALSE(spec.claims.list.at(0).missing.empty());
  CHECK(read(item("lm_loss.mean @ 64 {encoding=rope} < 2"), {.tier = {}, .sets = {"claims.family_error=0.1"}})
            .claims.family_error == 0.1);
  CHECK_THROWS_MATCHES(
      read(item("lm_loss.mean @ 64 {encoding=rope} < 2"),
           {.tier = {}, .sets = {"claims.list.c.test=lm_loss.mean @ 64 {encoding=rop} < 2"}}),
      Error, MessageMatches(ContainsSubstring("at character 29: no arm has encoding rop; did you mean rope?")));
}

TEST_CASE("claims: a spec without claims makes none", "[spec][claims]") {
  std::string const none = study.substr(0, study.find("claims:"));
  auto const spec = spec::read_spec(none, "f", {}, test::made_up_plugins());
  CHECK(spec.claims.empty());
  CHECK(spec.resolved.find("claims") == std::string::npos);
}

// A file of claims as `extend` takes it, held against the arms of the study above.
claims::Claims load(std::string const& text) {
  test::TempFolder const folder;
  write_file_atomically(folder / "claims.yaml", text);
  auto const arms = read(item("lm_loss.mean @ 64 {encoding=rope} < 2")).arms;
  return spec::load_claims(folder / "claims.yaml", arms, test::made_up_plugins());
}

TEST_CASE("claims: a file of claims alone says what a spec says, and its faults have line and column",
          "[spec][claims]") {
  auto const found = load("claims:\n  family_error: 0.1\n  list:\n" +
                          item("lm_loss.mean @ 128 {encoding=rope} == 2", ", margin: 5 %"));
  CHECK(found.family_error == 0.1);
  CHECK(found.list.at(0).settled == "lm_loss.mean @ 128 {encoding=rope, scaling=none} == 2");
  CHECK(found.list[0].margin.units == "%");
  auto const refused = [](std::string const& text, std::string const& message) {
    CHECK_THROWS_MATCHES(load(text), Error, MessageMatches(ContainsSubstring(message)));
  };
  std::string const head = "claims:\n  list:\n";
  refused(head + item("lm_loss.mean @ 128 {encoding=rop} < 2"),
          "claims.yaml:3:51: claims.list.0.test: no arm has encoding rop; did you mean rope?");
  refused(head + item("lm_loss.mean @ 1024 {encoding=rope} < 2"),
          "not measured at 1024 tokens, expected one of [64, 128]");
  refused(head + item("lm_loss.mean @ 128 {encoding=rope} == 2"), "claims.list.0.margin is 0, expected more than 0");
  refused(head + item("lm_loss.mean @ 128 {encoding=rope} < 2", ", reach: elsewhere"),
          "claims.list.0.reach is elsewhere, and there is no tier but this one");
  refused("list:\n" + item("lm_loss.mean @ 128 {encoding=rope} < 2"), "claims.yaml:1:1: expected a block `claims:`");
  refused("claims:\n", "claims is empty");
  refused(head + item("lm_loss.mean @ 128 {encoding=rope} < 2") + "study: other\n", "and nothing beside it");
}

std::string const published = R"(reference:
  - title: Averages
    source: A paper, table 1
    units: "%"
    values:
      - {name: RoPE, value: 51.70, ours: "lm_loss.mean @ 128 {encoding=rope}"}
      - {name: "far, far", value: -3, ours: "lm_loss.mean @ 1024 {encoding=rope}"}
      - {name: FoX, value: 53}
  - {title: Others, source: "B: paper", units: nat, values: [{name: RoPE, value: 1e-3}]}
)";

TEST_CASE("reference: published numbers keep their source, and each its arm of this tier", "[spec][reference]") {
  auto const spec = read(item("lm_loss.mean @ 64 {encoding=rope} < 2") + published);
  REQUIRE(spec.published.size() == 2);
  auto const& first = spec.published[0];
  CHECK(first.source == "A paper, table 1");
  CHECK(first.units == "%");
  REQUIRE(first.rows.size() == 3);
  CHECK(first.rows[0].value == 51.7);
  CHECK(first.rows[0].ours == "lm_loss.mean @ 128 {encoding=rope, scaling=none}");
  CHECK(first.rows[1].ours.empty());  // a length of the article tier
  CHECK(first.rows[2].ours.empty());
  CHECK(spec.published[1].rows[0].value == 1e-3);
  auto const article = read(item("lm_loss.mean @ 64 {encoding=rope} < 2") + published, {.tier = "article", .sets = {}});
  CHECK(article.published[0].rows[1].ours == "lm_loss.mean @ 1024 {encoding=rope, scaling=none}");
}

TEST_CASE("reference: the resolved text of a spec reads back to the same numbers", "[spec][reference]") {
  auto const spec = read(item("lm_loss.mean @ 64 {encoding=rope} < 2") + published, {.tier = "article", .sets = {}});
  auto const again = spec::read_spec(spec.resolved, "f", {}, test::made_up_plugins());
  REQUIRE(again.published.size() == 2);
  for (std::size_t t = 0; t < 2; ++t) {
    auto const &one = spec.published[t], &other = again.published[t];
    CHECK(other.title == one.title);
    CHECK(other.source == one.source);
    CHECK(other.units == one.units);
    REQUIRE(other.rows.size() == one.rows.size());
    for (std::size_t r = 0; r < one.rows.size(); ++r) {
      CHECK(other.rows[r].name == one.rows[r].name);
      CHECK(other.rows[r].value == one.rows[r].value);
      CHECK(other.rows[r].ours == one.rows[r].ours);
    }
  }
  CHECK(read(item("lm_loss.mean @ 64 {encoding=rope} < 2")).resolved.find("reference") == std::string::npos);
}
}  // namespace
}  // namespace sextant::claims_test
