// What a plugin's options accept and how they refuse.
#include "support/complaint.hpp"

#include <sextant/encoding/schema.hpp>

#include <catch2/catch_all.hpp>

using namespace sextant::encoding;
using Catch::Matchers::ContainsSubstring;
using sextant::test::complaint;

namespace {
enum class Mood { calm, wild };
struct Sample {
  bool loud = false;
  int rows = 4;
  double factor = 2;
  std::optional<double> auto_factor;
  Mood mood = Mood::calm;
  Numbers list;
  std::optional<int> span;
  std::int64_t far = 0;
  int turn = 0;
  Text where;
  static auto schema() {
    return Schema<Sample>{}
        .option("loud", &Sample::loud, "says so")
        .option("rows", &Sample::rows, "how many", between(1, 8), Unit{"rows"})
        .option("factor", &Sample::factor, "how far", above(1))
        .option("auto_factor", &Sample::auto_factor, "how far", at_least(1), MayBeAuto{"what is needed"}, required)
        .choice("mood", &Sample::mood, "how", {{"calm", Mood::calm}, {"wild", Mood::wild}})
        .option("list", &Sample::list, "numbers", positive)
        .option("span", &Sample::span, "how many", at_least(1), MayBeAuto{"all"})
        .option("far", &Sample::far, "how many")
        .option("turn", &Sample::turn, "how many")
        .option("where", &Sample::where, "a folder", MayBeAuto{"here"});
  }
};
Option const& option(std::vector<Option> const& all, std::string const& name) {
  for (auto const& o : all)
    if (o.name == name) return o;
  FAIL("no option " << name);
  return all.front();
}
}  // namespace

TEST_CASE("schema: defaults, kinds, ranges and help come from the struct and its schema", "[encoding][schema]") {
  auto const all = Sample::schema().options();
  REQUIRE(all.size() == 10);
  CHECK(option(all, "loud").fallback == Value(false));
  CHECK(option(all, "rows").fallback == Value(std::int64_t{4}));
  CHECK(option(all, "factor").fallback == Value(2.0));
  CHECK_FALSE(option(all, "auto_factor").fallback.has_value());
  CHECK(option(all, "mood").fallback == Value(std::string("calm")));
  CHECK(option(all, "rows").expectation() == "a whole number from 1 to 8 (rows)");
  CHECK(option(all, "factor").expectation() == "a number > 1");
  CHECK(option(all, "auto_factor").expectation() == "a number >= 1, or auto");
  CHECK(option(all, "mood").expectation() == "one of calm, wild");
}

TEST_CASE("schema: 8, 8.0 and 8e0 are one number; 4096.0 is whole and 4096.5 is not", "[encoding][schema][R23]") {
  auto const all = Sample::schema().options();
  Option const& factor = option(all, "factor");
  CHECK(factor.accept(std::int64_t{8}) == factor.accept(8.0));
  CHECK(factor.accept(std::int64_t{8}) == Value(8.0));
  Option const& rows = option(all, "rows");
  CHECK(rows.accept(3.0) == Value(std::int64_t{3}));
  CHECK_THAT(complaint([&] { rows.accept(3.5); }), ContainsSubstring("is 3.5, expected a whole number from 1 to 8"));
  CHECK_THAT(complaint([&] { rows.accept(9.0); }), ContainsSubstring("is 9"));
  CHECK_THAT(complaint([&] { factor.accept(std::string("8")); }), ContainsSubstring("is 8, expected a number > 1"));
  CHECK_THAT(complaint([&] { factor.accept(std::nan("")); }), ContainsSubstring("is .nan"));
  CHECK_THAT(complaint([&] { factor.accept(1.0); }), ContainsSubstring("expected a number > 1"));
  CHECK_THAT(complaint([&] { factor.accept(Auto{}); }), ContainsSubstring("is auto"));
  CHECK(option(all, "auto_factor").accept(Auto{}) == Value(Auto{}));
}

TEST_CASE("schema: words, lists and truth values are refused with the nearest that would do", "[encoding][schema]") {
  auto const all = Sample::schema().options();
  CHECK_THAT(complaint([&] { option(all, "mood").accept(std::string("clam")); }),
             ContainsSubstring("did you mean calm?"));
  CHECK_THAT(complaint([&] { option(all, "mood").accept(1.0); }), ContainsSubstring("one of calm, wild"));
  CHECK_THAT(complaint([&] { option(all, "loud").accept(std::int64_t{1}); }),
             ContainsSubstring("expected true or false"));
  CHECK_THAT(complaint([&] { option(all, "list").accept(std::vector<double>{1, 0}); }), ContainsSubstring("[1, 0]"));
  CHECK_THAT(complaint([&] { option(all, "list").accept(2.0); }), ContainsSubstring("a list of numbers > 0"));
  CHECK_THAT(complaint([&] { option(all, "list").accept(std::vector<double>(2000, 1.0)); }),
             ContainsSubstring("at most 1024"));
}

TEST_CASE("schema: a whole number that its member cannot hold is refused, and one that it can arrives",
          "[encoding][schema]") {
  auto const all = Sample::schema().options();
  auto const& span = option(all, "span");
  CHECK(span.expectation() == "a whole number >= 1, or auto");
  CHECK(option(all, "turn").expectation() == "a whole number");
  std::int64_t const most = std::numeric_limits<std::int32_t>::max();
  CHECK(complaint([&] { span.accept(most + 1); }) ==
        "is 2147483648, expected a whole number >= 1, or auto; at most 2147483647");
  CHECK(complaint([&] { option(all, "turn").accept(-most - 2); }) ==
        "is -2147483649, expected a whole number; at least -2147483648");
  CHECK(complaint([&] { span.accept(1e17); }) == "is 1e+17, expected a whole number >= 1, or auto; at most 2147483647");
  CHECK_THAT(complaint([&] { option(all, "far").accept(1e17); }), ContainsSubstring("; at most 9007199254740992"));
  Sample sample;
  Sample::schema().set(sample, {{"span", span.accept(most)},
                                {"turn", option(all, "turn").accept(-most - 1)},
                                {"far", option(all, "far").accept(std::int64_t{1} << 40)}});
  CHECK(sample.span == most);
  CHECK(sample.turn == -most - 1);
  CHECK(sample.far == std::int64_t{1} << 40);
}

TEST_CASE("schema: free text arrives whole, is empty where it is auto, and is refused where it does not fit",
          "[encoding][schema]") {
  auto const all = Sample::schema().options();
  auto const& where = option(all, "where");
  CHECK(where.fallback == Value(Auto{}));
  Sample sample;
  std::string const longest(Text::capacity - 1, 'x');
  for (std::string const& given : {std::string("/a folder"), longest}) {
    Sample::schema().set(sample, {{"where", where.accept(given)}});
    CHECK(sample.where.text() == given);
  }
  Sample::schema().set(sample, {{"where", Auto{}}});
  CHECK(sample.where.empty());
  CHECK_THAT(complaint([&] { where.accept(longest + "x"); }),
             ContainsSubstring("expected a word, or auto; it has 1024 bytes, at most 1023"));
}

TEST_CASE("schema: accepted values arrive in the struct, absent ones keep its defaults", "[encoding][schema]") {
  Sample sample;
  Sample::schema().set(sample, {{"rows", std::int64_t{7}},
                                {"auto_factor", 3.5},
                                {"mood", std::string("wild")},
                                {"list", std::vector<double>{2, 4}}});
  CHECK(sample.rows == 7);
  CHECK(sample.factor == 2);
  CHECK(sample.auto_factor == 3.5);
  CHECK(sample.mood == Mood::wild);
  CHECK(sample.list.count == 2);
  CHECK(sample.list[1] == 4);
  Sample::schema().set(sample, {{"auto_factor", Auto{}}});
  CHECK_FALSE(sample.auto_factor.has_value());
}

TEST_CASE("schema: a value reaches its member and no neighbour, whatever the widths", "[encoding][schema]") {
  enum class Near : std::int8_t { left = -3, right = 5 };
  enum class Far : std::int64_t { low = -(1ll << 40), high = 1ll << 40 };
  struct Packed {
    unsigned char before = 7;
    Near near = Near::right;
    unsigned char after = 9;
    short count = -2;
    Far far = Far::low;
    static auto schema() {
      std::vector<std::pair<std::string, Far>> const ends{{"low", Far::low}, {"high", Far::high}};
      return Schema<Packed>{}
          .option("before", &Packed::before, "a byte")
          .choice("near", &Packed::near, "a side", {{"left", Near::left}, {"right", Near::right}})
          .option("count", &Packed::count, "two bytes")
          .choice("far", &Packed::far, "an end", ends, required);
    }
  };
  auto const schema = Packed::schema();
  auto const copy = schema;
  REQUIRE(copy.options().size() == 4);
  CHECK(option(copy.options(), "before").fallback == Value(std::int64_t{7}));
  CHECK(option(copy.options(), "near").fallback == Value(std::string("right")));
  CHECK(option(copy.options(), "count").fallback == Value(std::int64_t{-2}));
  CHECK_FALSE(option(copy.options(), "far").fallback.has_value());
  CHECK(option(copy.options(), "before").held.most == 255);
  CHECK(option(copy.options(), "count").held.least == -32768);
  Packed packed;
  copy.set(packed, {{"near", std::string("left")}, {"count", std::int64_t{300}}, {"far", std::string("high")}});
  CHECK(packed.before == 7);
  CHECK(packed.near == Near::left);
  CHECK(packed.after == 9);
  CHECK(packed.count == 300);
  CHECK(packed.far == Far::high);
}

TEST_CASE("schema: a number written as text reads back as the same number", "[encoding][schema]") {
  for (double x : {0.1, 1.0 / 3, 1e-300, 12345678.9}) CHECK(std::stod(to_text(Value(x))) == x);
}
