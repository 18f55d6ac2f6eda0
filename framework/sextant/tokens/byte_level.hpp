// GPT-2's alphabet: each of the 256 bytes has a printable character, in which byte-level vocabularies are written.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::tokens {

/// The character of a byte: printable Latin-1 stands for itself, the other 68 bytes are U+0100, U+0101, ... in order.
std::string byte_character(std::uint8_t byte);

/// The bytes that a token is written for; nothing when a character of it stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view token);

}  // namespace sextant::tokens
