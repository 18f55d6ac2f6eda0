// A regular expression that cuts text, in the dialect of tokenizer.json (Oniguruma's, as Hugging Face's library uses it).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace sextant::tokens {

class Pattern {
 public:
  /// Throws Error for what PCRE2 does not know and for what it would read otherwise than Oniguruma.
  explicit Pattern(std::string const& expression);

  /// Cuts every piece into its matches and what lies between them; look-around sees no further than the piece. The pieces
  /// are well-formed UTF-8. Memory grows with the number of cuts, and long runs of one class take linear time.
  std::vector<std::string_view> cut(std::vector<std::string_view> const& pieces) const;

 private:
  std::shared_ptr<pcre2_real_code_8> code_;
};

/// The same expression for PCRE2. \s becomes the characters of property White_Space, \p{Han} the script without its
/// extensions. Throws Error naming the construct that the two read differently (\w, \b, \h, class intersection, ...).
std::string oniguruma_to_pcre2(std::string const& expression);

}  // namespace sextant::tokens
