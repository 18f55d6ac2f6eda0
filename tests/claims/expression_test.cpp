#include <sextant/base/error.hpp>
#include <sextant/claims/expression.hpp>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <optional>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;
using claims::Fault;
using claims::Relation;

/// Where a test is refused, and why.
struct Refusal {
  std::size_t at;
  std::string message;
};
Refusal refusal(std::string const& text) {
  try {
    (void)claims::parse(text);
  } catch (Fault const& fault) {
    return {fault.at, fault.what()};
  }
  return {text.size() + 1, "nothing"};
}

TEST_CASE("expression: a quantity has a probe, a measure, a length and an arm", "[claims]") {
  auto const test = claims::parse("lm_loss.tail64 @ 1024 {scaling=ntk, encoding=direct_sum(rope, alibi)} < 2.5");
  REQUIRE(test.measured.size() == 1);
  auto const& quantity = test.measured[0];
  CHECK(quantity.probe.text == "lm_loss");
  CHECK(quantity.measure.text == "tail64");
  CHECK(quantity.measure.at == 8);
  CHECK(quantity.length == 1024);
  CHECK(quantity.length_at == 17);
  REQUIRE(quantity.where.size() == 2);
  CHECK(quantity.where[0].dimension.text == "scaling");
  CHECK(quantity.where[0].label.text == "ntk");
  CHECK(quantity.where[1].label.text == "direct_sum(rope, alibi)");
  CHECK(test.relations == std::vector{Relation::less});
}

TEST_CASE("expression: sides are arithmetic in the usual order", "[claims]") {
  auto const value = [](std::string const& side) {
    return claims::value_of(claims::parse(side + " < 0").sides[0], std::array{2.0, 8.0});
  };
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("8 / 4 / 2") == 1);
  CHECK(value("8 - 4 - 2") == 2);
  CHECK(value("-3 + 1") == -2);
  CHECK(value("1-3") == -2);
  CHECK(value("2e-1") == 0.2);
  CHECK(value("a.x @ 1 - a.x @ 2") == -6);
  CHECK(value("a.x @ 1/a.x @ 2") == 0.25);
  CHECK(value("exp(a.x @ 1 - a.x @ 1)") == std::exp(-6.0));  // the second one is the second quantity: 8
}

TEST_CASE("expression: relations chain one way", "[claims]") {
  auto const test = claims::parse("a.x @ 1 < a.y @ 1 <= a.z @ 1 == 4");
  CHECK(test.sides.size() == 4);
  CHECK(test.relations == std::vector{Relation::less, Relation::less_equal, Relation::equal});
  CHECK(refusal("a.x @ 1 < a.y @ 1 > a.z @ 1").at == 18);
  CHECK_THAT(refusal("a.x @ 1 < a.y @ 1 > a.z @ 1").message, ContainsSubstring("expected one way"));
}

TEST_CASE("expression: what cannot be read is refused at its place", "[claims]") {
  struct Case {
    char const* text;
    std::size_t at;
    char const* message;
  };
  for (auto const& [text, at, message] : std::initializer_list<Case>{
           {"", 0, "found the end, expected a number or a quantity"},
           {"a.x @ 1", 7, "expected a relation"},
           {"a.x @ 1 = 2", 8, "found =, expected a relation"},
           {"a.x @ 1 <", 9, "found the end"},
           {"a.x 1 < 2", 4, "expected @ and a length"},
           {"a @ 1 < 2", 2, "expected . and a measure"},
           {"a.x @ far < 2", 6, "found far, expected a length in tokens"},
           {"a.x @ 0 < 2", 6, "expected a length in tokens"},
           {"a.x @ 1 {=rope} < 2", 9, "expected a dimension"},
           {"a.x @ 1 {encoding} < 2", 17, "expected = and a label"},
           {"a.x @ 1 {encoding=} < 2", 18, "expected a label"},
           {"a.x @ 1 {encoding=rope < 2", 26, "expected } or a comma"},
           {"a.x @ 1 {encoding='rope} < 2", 18, "second quote"},
           {"a.x @ 1 {e=a, e=b} < 2", 14, "e is given twice"},
           {"log(a.x @ 1) < 2", 0, "expected exp("},
           {"(a.x @ 1 < 2", 9, "expected ) to close"},
           {"1e999 < a.x @ 1", 0, "expected a number"},
           {"a.x @ 1 < 2 3", 12, "expected a relation"},
       }) {
    INFO(text);
    Refusal const found = refusal(text);
    CHECK(found.at == at);
    CHECK_THAT(found.message, ContainsSubstring(message));
  }
  CHECK_THAT(refusal(std::string(60, '(') + "1").message, ContainsSubstring("50 parentheses"));
}

TEST_CASE("expression: any text is read or refused, and nothing else happens", "[claims]") {
  std::string const whole = "exp(lm_loss.mean @ 64 {encoding=\"rope\"}) / 2 <= x.y @ 3 {a=b(c, d)}";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) (void)refusal(whole.substr(0, cut));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (char const c : {'{', '}', '(', '@', '<', '\0', '\xff', '.'}) {
      std::string changed = whole;
      changed[at] = c;
      (void)refusal(changed);
    }
  CHECK(refusal(whole).message == "nothing");
}

TEST_CASE("expression: units must fit, and a ratio or an exponential has none", "[claims]") {
  std::vector<std::string> const units{"nat/token", "nat/token", "1"};
  auto const of = [&](std::string const& side) -> std::string {
    try {
      return claims::units_of(claims::parse(side + " < 0").sides[0], units);
    } catch (Fault const&) {
      return "refused";
    }
  };
  CHECK(of("a.x @ 1") == "nat/token");
  CHECK(of("a.x @ 1 - a.x @ 2") == "nat/token");
  CHECK(of("1.05 * a.x @ 1") == "nat/token");
  CHECK(of("a.x @ 1 / 2") == "nat/token");
  CHECK(of("a.x @ 1 / a.x @ 2") == "1");
  CHECK(of("exp(a.x @ 1 - a.x @ 2)") == "1");
  CHECK(of("3 + 4").empty());
  CHECK(of("a.x @ 1 * a.x @ 2") == "refused");
  CHECK(of("1 / a.x @ 1") == "refused");
  CHECK(of("a.x @ 1 + a.x @ 2 + a.x @ 3") == "refused");
  CHECK(of("a.x @ 1 + 0 * a.x @ 2") == "nat/token");
}

TEST_CASE("expression: a test written out reads back to the same test", "[claims]") {
  auto const test = claims::parse("(a.x @ 1 - 2.5) * 2 < exp(a.y @ 8 {encoding='rope / steps=100', size=big}) <= 1e-3");
  std::vector<std::string> texts;
  for (auto const& quantity : test.measured) texts.push_back(claims::write(quantity));
  std::string const written = claims::write(test, texts);
  auto const again = claims::parse(written);
  REQUIRE(again.measured.size() == 2);
  CHECK(again.measured[1].where[0].label.text == "rope / steps=100");
  CHECK(again.relations == test.relations);
  std::array const values{4.0, 0.5};
  for (std::size_t i = 0; i < test.sides.size(); ++i)
    CHECK(claims::value_of(again.sides[i], values) == claims::value_of(test.sides[i], values));
  std::vector<std::string> twice;
  for (auto const& quantity : again.measured) twice.push_back(claims::write(quantity));
  CHECK(claims::write(again, twice) == written);
}

TEST_CASE("expression: a quantity alone is one, and no test", "[claims]") {
  auto const quantity = claims::parse_measured(" lm_loss.mean @ 256 {encoding=rope} ");
  CHECK(claims::write(quantity) == "lm_loss.mean @ 256 {encoding=rope}");
  auto const fault = [](char const* text) {
    try {
      (void)claims::parse_measured(text);
    } catch (Fault const& found) {
      return sextant::text(found.at, ": ", found.what());
    }
    return std::string("nothing");
  };
  CHECK(fault("lm_loss.mean @ 256 < 2") ==
        "19: found <, expected one quantity and no more, as in lm_loss.mean @ 1024 {encoding=rope}");
  CHECK(fault("2.5") == "0: found 2, expected a quantity such as lm_loss.mean @ 1024 {encoding=rope}");
  CHECK(fault("") == "0: found the end, expected a quantity such as lm_loss.mean @ 1024 {encoding=rope}");
  CHECK(fault("lm_loss") == "7: found the end, expected . and a measure, as in lm_loss.mean @ 1024");
}
}  // namespace
}  // namespace sextant
