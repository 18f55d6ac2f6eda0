#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <sextant/base/error.hpp>
#include <sextant/tokens/pattern.hpp>
#include <sextant/tokens/utf8.hpp>

namespace sextant::tokens {
namespace {

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<char const*>(buffer);
}

PCRE2_SPTR units(std::string_view s) { return reinterpret_cast<PCRE2_SPTR>(s.data()); }

/// What one call of cut() needs beside the compiled expression.
class Matcher {
 public:
  explicit Matcher(pcre2_code const* code)
      : code_(code),
        data_(pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free),
        limits_(pcre2_match_context_create(nullptr), pcre2_match_context_free) {
    pcre2_set_match_limit(limits_.get(), UINT32_MAX);
  }

  /// The first match at or after `from`: true and its ends.
  bool find(std::string_view piece, std::size_t from, std::size_t& begin, std::size_t& end) const {
    int found = match(piece, from, PCRE2_NO_UTF_CHECK);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = match(piece, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) return false;
    expect(found > 0, "cannot split a text of ", piece.size(), " bytes: ", message_of(found));
    auto const* const ends = pcre2_get_ovector_pointer(data_.get());
    begin = ends[0];
    end = ends[1];
    return true;
  }

 private:
  int match(std::string_view piece, std::size_t from, std::uint32_t options) const {
    return pcre2_match(code_, units(piece), piece.size(), from, options, data_.get(), limits_.get());
  }

  pcre2_code const* code_;
  std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data_;
  std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits_;
};

void cut_piece(Matcher const& matcher, std::string_view piece, std::vector<std::string_view>& out) {
  auto const put = [&](std::size_t from, std::size_t to) {
    if (from < to) out.push_back(piece.substr(from, to - from));
  };
  std::size_t done = 0, from = 0, begin = 0, end = 0;
  while (from < piece.size() && matcher.find(piece, from, begin, end)) {
    put(done, begin);
    put(begin, end);
    done = end;
    from = end > begin || end == piece.size() ? end : end + character_length(piece, end);  // past an empty match
  }
  put(done, piece.size());
}

}  // namespace

Pattern::Pattern(std::string const& expression) {
  std::string const translated = oniguruma_to_pcre2(expression);
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> const context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  std::size_t where = 0;
  auto* const code = pcre2_compile(units(translated), translated.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE,
                                   &error, &where, context.get());
  expect(code != nullptr, "pattern ", expression, ": ", message_of(error), " (character ", where, " of ", translated,
         ")");
  code_ = {code, pcre2_code_free};
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it is not to be had, matching is slower and the same
}

std::vector<std::string_view> Pattern::cut(std::vector<std::string_view> const& pieces) const {
  Matcher const matcher(code_.get());
  std::vector<std::string_view> out;
  for (std::string_view const piece : pieces) cut_piece(matcher, piece, out);
  return out;
}

}  // namespace sextant::tokens
