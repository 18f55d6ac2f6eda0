// Small text tools of the report: numbers as people read them, widths as terminals draw them, escapes of each format.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// The parts one after the other.
std::string cat(std::initializer_list<std::string_view> parts);

/// What every renderer prints for a number that is missing or not finite.
inline constexpr std::string_view missing = "–";

/// `decimals` places, independent of the locale, with a real minus sign; `missing` when not finite.
std::string fixed(double value, int decimals);
std::string fixed(std::optional<double> value, int decimals);
/// "+0.12" or "−0.12"; no sign on what rounds to zero.
std::string with_sign(double value, int decimals);
/// The shortest text that reads back to the same double, ASCII; "" when not finite (for CSV).
std::string exact(double value);
std::string exact(std::optional<double> value);
/// A probability: "0.031", "<0.001".
std::string p_value(double p);
/// Places after the point that suit numbers up to `largest`: 3 below 10, 2 below 100, 1 below 1000, else 0; where 3 would
/// show nothing but zeros, as many as give two digits (12 at most).
int decimals_for(double largest);
/// 1536 -> "1,536"; 2048 stays "2,048".
std::string grouped(long long value);
/// " [nat/token]", to stand behind a caption; "" where there are no units.
std::string bracketed(std::string_view units);
/// 93 -> "93 s", 754 -> "12.6 min", 9000 -> "2.5 h".
std::string duration(double seconds);

/// Columns that a terminal gives to UTF-8 text: wide characters count 2, combining marks and escape sequences 0.
int display_width(std::string_view utf8);
/// Shortens to at most `columns`, ending in "…" when something was cut. Never cuts inside a character.
std::string ellipsize(std::string_view utf8, int columns);
/// The same with the cut in the middle: names that differ only at their ends stay apart.
std::string ellipsize_middle(std::string_view utf8, int columns);
/// Copies, replacing bytes that are not UTF-8 by U+FFFD and control characters (but tab and newline) by a space.
std::string clean_utf8(std::string_view bytes);

/// As names of files, ids and links can have it: what is neither letter, digit, '.', '_' nor '-' becomes '-'.
std::string file_word(std::string_view text);
std::string escape_xml(std::string_view text);       ///< & < > " ' ; input is cleaned first
std::string escape_latex(std::string_view text);     ///< the ten specials
std::string escape_markdown(std::string_view text);  ///< specials of a table cell
std::string csv_field(std::string_view text);        ///< RFC 4180: quoted when it has comma, quote or line break
std::string base64(std::string_view bytes);

std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace sextant::report
