// The one grammar of numbers, for files, --set and sweep lists alike.
//
//   number   = [+-] digits [. digits] [exponent]  |  [+-] . digits [exponent]  |  [+-] digits . [exponent]
//   exponent = (e|E) [+-] digits
//
// So 1e-3, 1E-3, 1.e-3 and .001 are one number and +3 is 3. Refused: 1_000, 0x10, 1,000, .inf, .nan, a leading zero as
// in 010 (octal to some readers), and what a double cannot hold.
#pragma once
#include <sextant/encoding/schema.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sextant::spec {

/// The number that `text` is from beginning to end: an integer where it is written in digits alone, else a double.
/// Empty when it is none.
std::optional<encoding::Value> parse_number(std::string_view text);

/// A number with a unit behind it, with or without a space: 40min, 6GiB, 4096 tokens, 0.05 nat/token, 2 %.
struct Quantity {
  encoding::Value number;
  std::string unit;  ///< as written; may be empty
};
std::optional<Quantity> parse_quantity(std::string_view text);

/// Seconds in one of: ms s min h d. Empty when `unit` is none of them.
std::optional<double> seconds_in(std::string_view unit);
/// Bytes in one of: B kB MB GB TB KiB MiB GiB TiB.
std::optional<double> bytes_in(std::string_view unit);

double as_double(encoding::Value const& number);
/// A double that reads back to the same bits.
std::string number_text(double value);

}  // namespace sextant::spec
