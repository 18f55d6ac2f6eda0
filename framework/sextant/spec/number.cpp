#include <sextant/spec/number.hpp>

#include <charconv>
#include <map>

namespace sextant::spec {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// Length of the longest beginning of `text` that is a number; 0 when there is none.
std::size_t number_prefix(std::string_view text) {
  std::size_t at = 0;
  auto const digits = [&] {
    std::size_t const begin = at;
    while (at < text.size() && digit(text[at])) ++at;
    return at - begin;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  std::size_t const first = at, whole = digits();
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0) return 0;
  if (whole > 1 && text[first] == '0') return 0;
  std::size_t const mantissa_end = at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) at = mantissa_end;
  }
  return at;
}

std::optional<double> lookup(std::map<std::string_view, double> const& table, std::string_view unit) {
  auto const it = table.find(unit);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::optional<encoding::Value> parse_number(std::string_view text) {
  if (text.empty() || number_prefix(text) != text.size()) return {};
  std::string_view const unsigned_text = text[0] == '+' ? text.substr(1) : text;
  char const* const begin = unsigned_text.data();
  char const* const end = begin + unsigned_text.size();
  if (unsigned_text.find_first_of(".eE") == std::string_view::npos && unsigned_text != "-0") {
    std::int64_t whole = 0;
    bool const fits = std::from_chars(begin, end, whole).ec == std::errc();
    if (!fits || whole > (1ll << 53) || whole < -(1ll << 53)) return {};  // past 2^53 doubles skip integers
    return whole;
  }
  double value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc()) return {};
  return value;
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  std::size_t const length = number_prefix(text);
  auto const number = parse_number(text.substr(0, length));
  if (!number) return {};
  std::size_t at = length;
  while (at < text.size() && text[at] == ' ') ++at;
  std::string_view const unit = text.substr(at);
  for (char c : unit)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '%')) return {};
  return Quantity{*number, std::string(unit)};
}

std::optional<double> seconds_in(std::string_view unit) {
  static std::map<std::string_view, double> const table = {
      {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  return lookup(table, unit);
}

std::optional<double> bytes_in(std::string_view unit) {
  static std::map<std::string_view, double> const table = {{"B", 1},        {"kB", 1e3},     {"MB", 1e6},
                                                           {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
                                                           {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  return lookup(table, unit);
}

double as_double(encoding::Value const& number) {
  if (auto const* whole = std::get_if<std::int64_t>(&number)) return static_cast<double>(*whole);
  return std::get<double>(number);
}

std::string number_text(double value) { return encoding::to_text(encoding::Value(value)); }

}  // namespace sextant::spec
