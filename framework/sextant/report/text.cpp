#include <sextant/report/text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sextant::report {
namespace {
struct Decoded {
  char32_t code;
  std::size_t bytes;
  bool valid;
};

Decoded decode(std::string_view s, std::size_t at) {
  auto const byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  unsigned const lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t const length = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead >= 0xF5) return {0xFFFD, 1, false};
  char32_t code = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {0xFFFD, 1, false};
    code = (code << 6) | (byte(at + i) & 0x3F);
  }
  char32_t const least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  bool const surrogate = code >= 0xD800 && code < 0xE000;
  bool const nonchar = code == 0xFFFE || code == 0xFFFF;  // XML has no place for them
  if (code < least || code > 0x10FFFF || surrogate || nonchar) return {0xFFFD, 1, false};
  return {code, length, true};
}

int columns_of(char32_t c) {
  auto const within = [c](char32_t low, char32_t high) { return low <= c && c <= high; };
  if (c < 0x20 || within(0x7F, 0x9F)) return 0;
  if (within(0x300, 0x36F) || within(0x483, 0x489) || within(0x591, 0x5BD) || within(0x610, 0x61A) ||
      within(0x64B, 0x65F) || within(0x200B, 0x200F) || within(0x20D0, 0x20FF) || within(0xFE00, 0xFE0F) ||
      within(0xFE20, 0xFE2F) || c == 0xFEFF)
    return 0;
  if (within(0x1100, 0x115F) || within(0x2E80, 0x303E) || within(0x3041, 0xA4CF) || within(0xAC00, 0xD7A3) ||
      within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) || within(0xFFE0, 0xFFE6) ||
      within(0x1F300, 0x1F64F) || within(0x1F900, 0x1F9FF) || within(0x20000, 0x3FFFD))
    return 2;
  return 1;
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> table) {
  std::string out;
  out.reserve(text.size());
  for (char const c : text) {
    auto const* const hit =
        std::find_if(table.begin(), table.end(), [c](auto const& entry) { return entry.first == c; });
    if (hit == table.end())
      out += c;
    else
      out += hit->second;
  }
  return out;
}
}  // namespace

std::string cat(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (auto const part : parts) size += part.size();
  std::string out;
  out.reserve(size);
  for (auto const part : parts) out += part;
  return out;
}

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(missing);
  char buffer[400];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::fixed, decimals);
  std::string digits(buffer, end.ptr);
  bool const zero = digits.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !zero ? cat({"−", digits}) : digits;
}

std::string fixed(std::optional<double> value, int decimals) {
  return value ? fixed(*value, decimals) : std::string(missing);
}

std::string with_sign(double value, int decimals) {
  std::string const digits = fixed(value, decimals);
  bool const zero = digits.find_first_not_of("0.") == std::string::npos;
  if (!std::isfinite(value) || value < 0 || zero) return digits;
  return cat({"+", digits});
}

std::string exact(double value) {
  if (!std::isfinite(value)) return "";
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string exact(std::optional<double> value) { return value ? exact(*value) : std::string(); }

std::string p_value(double p) {
  if (!std::isfinite(p)) return std::string(missing);
  return p < 0.001 ? "<0.001" : fixed(p, p < 0.1 ? 3 : 2);
}

int decimals_for(double largest) {
  double const size = std::abs(largest);
  if (size > 0 && size < 0.0005) return std::min(12, 1 - static_cast<int>(std::floor(std::log10(size))));
  return size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0;
}

std::string grouped(long long value) {
  std::string const digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    bool const inside = i > (value < 0 ? 1u : 0u);
    if (inside && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string bracketed(std::string_view units) { return units.empty() ? "" : cat({" [", units, "]"}); }

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return std::string(missing);
  if (seconds < 120) return fixed(seconds, seconds < 10 ? 1 : 0) + " s";
  if (seconds < 7200) return fixed(seconds / 60, 1) + " min";
  return fixed(seconds / 3600, 1) + " h";
}

int display_width(std::string_view utf8) {
  int width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    if (utf8[at] == '\x1b' && at + 1 < utf8.size() && utf8[at + 1] == '[') {  // ESC [ ... letter
      at += 2;
      while (at < utf8.size() && !(utf8[at] >= '@' && utf8[at] <= '~')) ++at;
      ++at;
      continue;
    }
    Decoded const next = decode(utf8, at);
    width += columns_of(next.code);
    at += next.bytes;
  }
  return width;
}

std::string ellipsize(std::string_view utf8, int columns) {
  if (display_width(utf8) <= columns) return std::string(utf8);
  if (columns < 1) return "";
  std::string out;
  int width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    Decoded const next = decode(utf8, at);
    if (width + columns_of(next.code) > columns - 1) break;
    width += columns_of(next.code);
    out += utf8.substr(at, next.bytes);
    at += next.bytes;
  }
  return out + "…";
}

std::string ellipsize_middle(std::string_view utf8, int columns) {
  int const width = display_width(utf8);
  if (width <= columns) return std::string(utf8);
  int const tail = columns / 3;
  std::size_t at = 0;
  for (int left = width; at < utf8.size() && left > tail;) {
    Decoded const next = decode(utf8, at);
    left -= columns_of(next.code);
    at += next.bytes;
  }
  return cat({ellipsize(utf8, columns - tail), utf8.substr(at)});
}

std::string clean_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    Decoded const next = decode(bytes, at);
    bool const control = (next.code < 0x20 && next.code != '\t' && next.code != '\n') || next.code == 0x7F;
    if (!next.valid)
      out += "\xEF\xBF\xBD";
    else if (control)
      out += ' ';
    else
      out += bytes.substr(at, next.bytes);
    at += next.bytes;
  }
  return out;
}

std::string file_word(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return out;
}

std::string escape_xml(std::string_view text) {
  return replaced(clean_utf8(text), {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
}

std::string escape_latex(std::string_view text) {
  std::string out = replaced(text, {{'\\', "\\textbackslash{}"},
                                    {'{', "\\{"},
                                    {'}', "\\}"},
                                    {'$', "\\$"},
                                    {'&', "\\&"},
                                    {'#', "\\#"},
                                    {'%', "\\%"},
                                    {'_', "\\_"},
                                    {'~', "\\textasciitilde{}"},
                                    {'^', "\\textasciicircum{}"}});
  for (auto const& [from, to] : {std::pair<std::string_view, std::string_view>{"−", "$-$"}, {"–", "--"}}) {
    for (std::size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size())
      out.replace(at, from.size(), to);
  }
  return out;
}

std::string escape_markdown(std::string_view text) {
  return replaced(text, {{'|', "\\|"},
                         {'*', "\\*"},
                         {'_', "\\_"},
                         {'`', "\\`"},
                         {'<', "&lt;"},
                         {'[', "\\["},
                         {']', "\\]"},
                         {'\\', "\\\\"},
                         {'\n', " "}});
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return cat({"\"", replaced(text, {{'"', "\"\""}}), "\""});
}

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i)
      word = (word << 8) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) out += at + i <= bytes.size() ? digits[(word >> (18 - 6 * i)) & 63] : '=';
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::size_t const end = text.find('\n');
    out.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return out;
}

}  // namespace sextant::report
