#include <sextant/spec/number.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace sextant {
namespace {
using encoding::Value;
using spec::parse_number;
using spec::parse_quantity;

TEST_CASE("number: every common spelling of a thousandth is the same double", "[spec][R46]") {
  for (char const* text : {"1e-3", "1E-3", "1.e-3", ".001", "0.001", "+1e-3", "1.0e-03"}) {
    INFO(text);
    REQUIRE(parse_number(text).has_value());
    CHECK(*parse_number(text) == Value(0.001));
  }
}

TEST_CASE("number: digits alone are an integer, an exponent or a point makes a double", "[spec]") {
  CHECK(*parse_number("8") == Value(std::int64_t{8}));
  CHECK(*parse_number("+3") == Value(std::int64_t{3}));
  CHECK(*parse_number("-3") == Value(std::int64_t{-3}));
  CHECK(*parse_number("8.0") == Value(8.0));
  CHECK(*parse_number("8e0") == Value(8.0));
  CHECK(*parse_number("1e5") == Value(100000.0));
  CHECK(std::signbit(std::get<double>(*parse_number("-0"))));
}

TEST_CASE("number: what only some readers take for a number is refused", "[spec][R46]") {
  for (char const* text : {"1_000",
                           "1,000",
                           "0x10",
                           "010",
                           "00.5",
                           ".inf",
                           ".nan",
                           "inf",
                           "nan",
                           "1e",
                           "e5",
                           ".",
                           "-",
                           "+",
                           "1e400",
                           "1e-400",
                           "1.2.3",
                           "--1",
                           "",
                           " 1",
                           "1 ",
                           "9007199254740993",
                           "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text).has_value());
  }
}

TEST_CASE("number: a unit may follow with or without a space", "[spec]") {
  auto const minutes = parse_quantity("40min");
  REQUIRE(minutes.has_value());
  CHECK(minutes->number == Value(std::int64_t{40}));
  CHECK(minutes->unit == "min");
  CHECK(parse_quantity("4096 tokens")->unit == "tokens");
  CHECK(parse_quantity("1e3s")->number == Value(1000.0));
  CHECK(parse_quantity("6EiB")->unit == "EiB");  // the E is no exponent
  CHECK_FALSE(parse_quantity("40 min utes").has_value());
  CHECK_FALSE(parse_quantity("min").has_value());
}

TEST_CASE("number: units are what their names say", "[spec]") {
  CHECK(spec::seconds_in("min") == 60.0);
  CHECK(spec::seconds_in("h") == 3600.0);
  CHECK(spec::seconds_in("ms") == 0.001);
  CHECK(spec::bytes_in("GiB") == 1073741824.0);
  CHECK(spec::bytes_in("GB") == 1e9);
  CHECK_FALSE(spec::bytes_in("gib").has_value());
  CHECK_FALSE(spec::seconds_in("m").has_value());
}

TEST_CASE("number: a double written out reads back to the same bits", "[spec][R46]") {
  for (double x : {0.1, 1.0 / 3.0, 1e-5, 2e-3, 1e22, 1e23, 5e-324 * 9e15, 123456789.123456789, -2.5}) {
    auto const text = spec::number_text(x);
    INFO(text);
    REQUIRE(parse_number(text).has_value());
    CHECK(spec::as_double(*parse_number(text)) == x);
  }
}
}  // namespace
}  // namespace sextant
