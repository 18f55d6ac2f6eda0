// UTF-8 as the tokenizers need it: where characters end, which bytes belong to none, NFC.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::tokens {

/// Bytes of the character that begins at `at`; 0 when what stands there is not well-formed (overlong forms, surrogates and
/// code points past U+10FFFF are not).
std::size_t character_length(std::string_view bytes, std::size_t at);

/// Offsets of the bytes that belong to no character; empty for well-formed text.
std::vector<std::size_t> stray_bytes(std::string_view bytes);

/// Every stray byte becomes U+FFFD, one each, as in llama.cpp.
std::string replace_strays(std::string_view bytes, std::vector<std::size_t> const& strays);

/// Normalisation form C; stray bytes stay as they are.
std::string to_nfc(std::string_view bytes);

void append_character(std::string& out, char32_t code);

/// The character at `at`, whose length is known to be `length`.
char32_t character_at(std::string_view bytes, std::size_t at, std::size_t length);

}  // namespace sextant::tokens
