// What a claim tests, as it is written:
//
//   lm_loss.tail64 @ 1024 {scaling=ntk} < lm_loss.tail64 @ 1024 {scaling=none}
//   exp(lm_loss.mean @ 2048 {scaling=yarn} - lm_loss.mean @ 2048 {scaling=none}) < 1.08
//   lm_loss.mean @ 256 {encoding=rope} == 1.4
//
//   test    = side { relation side }          relation: < <= == >= >
//   side    = term { (+ | -) term }
//   term    = factor { (* | /) factor }
//   factor  = number | ( side ) | exp ( side ) | measured
//   measured = probe . measure @ length [ { dimension = label {, dimension = label} } ]
//
// A label runs to the comma or brace outside its own parentheses, as in {encoding=direct_sum(rope, alibi)}, or stands in
// single or double quotes.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::claims {

/// A piece of the text: where it begins and what it says.
struct Piece {
  std::string text;
  std::size_t at = 0;
};

/// One quantity that was measured: probe.measure @ length {dimension=label, ...}
struct Measured {
  Piece probe, measure;
  std::int64_t length = 0;  ///< tokens
  std::size_t length_at = 0;
  struct Where {
    Piece dimension, label;
  };
  std::vector<Where> where;
};

enum class Relation { less, less_equal, equal, greater_equal, greater };
std::string_view symbol(Relation relation);

struct Term {
  enum class Kind { number, quantity, exp, add, subtract, multiply, divide };
  Kind kind = Kind::number;
  double number = 0;
  std::size_t index = 0;  ///< of a measured one: in Test::measured
  std::size_t at = 0;     ///< where the text has it, or its operator
  std::vector<Term> parts;
};

struct Test {
  std::vector<Measured> measured;  ///< in the order of the text; equal ones stand as often as they are written
  std::vector<Term> sides;
  std::vector<Piece> relation_text;
  std::vector<Relation> relations;  ///< one fewer than sides
};

/// A text that is no test, or one that makes no sense; `at` is the byte where.
class Fault : public std::runtime_error {
 public:
  Fault(std::size_t place, std::string const& message) : std::runtime_error(message), at(place) {}
  std::size_t at;
};

/// Throws Fault with what was found and what was expected. Chains must run one way: a < b <= c, never a < b > c.
Test parse(std::string_view text);
/// A quantity that stands alone, without a relation. Throws Fault.
Measured parse_measured(std::string_view text);

/// The side's value, given one number for each measured quantity of the test.
double value_of(Term const& side, std::span<double const> measured);

/// The units of a side, given those of each measured quantity: "" for a number alone, which fits any. Throws Fault where
/// units do not fit together.
std::string units_of(Term const& side, std::span<std::string const> measured);

/// The test written out with each measured quantity as given.
std::string write(Test const& test, std::span<std::string const> measured);
/// probe.measure @ length {dimension=label, ...}, labels in quotes where they need them.
std::string write(Measured const& measured);

}  // namespace sextant::claims
