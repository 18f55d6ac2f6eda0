#include <array>
#include <map>
#include <sextant/tokens/byte_level.hpp>
#include <sextant/tokens/utf8.hpp>

namespace sextant::tokens {
namespace {

struct Alphabet {
  std::array<char32_t, 256> character;
  std::map<char32_t, std::uint8_t> byte;

  Alphabet() {
    char32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      bool const printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      character[b] = printable ? static_cast<char32_t>(b) : next++;
      byte[character[b]] = static_cast<std::uint8_t>(b);
    }
  }
};

Alphabet const& alphabet() {
  static Alphabet const one;
  return one;
}

}  // namespace

std::string byte_character(std::uint8_t byte) {
  std::string out;
  append_character(out, alphabet().character[byte]);
  return out;
}

std::optional<std::string> bytes_of_characters(std::string_view token) {
  auto const& known = alphabet().byte;
  std::string out;
  for (std::size_t at = 0; at < token.size();) {
    std::size_t const length = character_length(token, at);
    auto const found = length ? known.find(character_at(token, at, length)) : known.end();
    if (found == known.end()) return std::nullopt;
    out += static_cast<char>(found->second);
    at += length;
  }
  return out;
}

}  // namespace sextant::tokens
