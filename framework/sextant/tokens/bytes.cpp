#include <sextant/tokens/byte_level.hpp>
#include <sextant/tokens/bytes.hpp>

namespace sextant::tokens {

Vocabulary byte_vocabulary() {
  Vocabulary out;
  out.where = "bytes";
  out.model = "gpt2";
  out.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) out.tokens.push_back(byte_character(static_cast<std::uint8_t>(byte)));
  return out;
}

}  // namespace sextant::tokens
