#include <utf8proc.h>

#include <cstdlib>
#include <sextant/base/error.hpp>
#include <sextant/tokens/utf8.hpp>

namespace sextant::tokens {
namespace {
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

auto const* as_utf8(std::string_view bytes) { return reinterpret_cast<utf8proc_uint8_t const*>(bytes.data()); }

void append_nfc(std::string& out, std::string_view valid) {
  utf8proc_uint8_t* made = nullptr;
  auto const length = utf8proc_map(as_utf8(valid), static_cast<utf8proc_ssize_t>(valid.size()), &made,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  expect(length >= 0, "cannot normalise a text of ", valid.size(), " bytes: ", utf8proc_errmsg(length));
  out.append(reinterpret_cast<char const*>(made), static_cast<std::size_t>(length));
  std::free(made);
}
}  // namespace

std::size_t character_length(std::string_view bytes, std::size_t at) {
  if (static_cast<unsigned char>(bytes[at]) < 0x80) return 1;
  utf8proc_int32_t code = 0;
  auto const rest = bytes.substr(at, 4);
  auto const length = utf8proc_iterate(as_utf8(rest), static_cast<utf8proc_ssize_t>(rest.size()), &code);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

std::vector<std::size_t> stray_bytes(std::string_view bytes) {
  std::vector<std::size_t> strays;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t const length = character_length(bytes, at);
    if (length == 0) strays.push_back(at);
    at += length == 0 ? 1 : length;
  }
  return strays;
}

std::string replace_strays(std::string_view bytes, std::vector<std::size_t> const& strays) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t const stray : strays) {
    out.append(bytes.substr(from, stray - from)).append(replacement);
    from = stray + 1;
  }
  return out.append(bytes.substr(from));
}

std::string to_nfc(std::string_view bytes) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t const stray : stray_bytes(bytes)) {
    append_nfc(out, bytes.substr(from, stray - from));
    out += bytes[stray];
    from = stray + 1;
  }
  append_nfc(out, bytes.substr(from));
  return out;
}

void append_character(std::string& out, char32_t code) {
  utf8proc_uint8_t bytes[4];
  auto const length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(length));
}

char32_t character_at(std::string_view bytes, std::size_t at, std::size_t length) {
  utf8proc_int32_t code = 0;
  utf8proc_iterate(as_utf8(bytes.substr(at)), static_cast<utf8proc_ssize_t>(length), &code);
  return static_cast<char32_t>(code);
}

}  // namespace sextant::tokens
