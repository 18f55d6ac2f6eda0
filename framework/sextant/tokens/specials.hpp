// Finds tokens that are written out in a text, such as <|endoftext|>.
#pragma once
#include <sextant/tokens/vocabulary.hpp>

#include <array>
#include <string_view>

namespace sextant::tokens {

/// A stretch of text: of ordinary text (id -1) or a token that stands there in full.
struct Stretch {
  std::string_view text;
  std::int32_t id = -1;
};

class Specials {
 public:
  /// User-defined tokens, and control and unknown ones if `control`.
  Specials(Vocabulary const& vocabulary, bool control);

  /// The leftmost token first, the longest of those that begin at the same place. White space that a token strips is gone.
  std::vector<Stretch> stretches(std::string_view text) const;

 private:
  struct Special {
    std::string text;
    std::int32_t id;
    Strip strip;
  };
  Special const* at(std::string_view text) const;

  std::array<std::vector<Special>, 256> by_first_byte_;  // longest first
};

}  // namespace sextant::tokens
