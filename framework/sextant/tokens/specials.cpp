#include <sextant/tokens/specials.hpp>
#include <sextant/tokens/utf8.hpp>

#include <utf8proc.h>

#include <algorithm>

namespace sextant::tokens {
namespace {

bool is_space(char32_t c) {
  if ((c >= 9 && c <= 13) || c == 0x85) return true;
  auto const category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t const length = character_length(text, at);
    if (length == 0 || !is_space(character_at(text, at, length))) break;
    at += length;
  }
  return at;
}

std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    std::size_t const length = character_length(text, begin);
    if (length != end - begin || !is_space(character_at(text, begin, length))) break;
    end = begin;
  }
  return text.size() - end;
}

}  // namespace

Specials::Specials(Vocabulary const& v, bool control) {
  for (std::size_t id = 0; id < v.types.size(); ++id) {
    TokenType const type = v.types[id];
    bool const wanted =
        type == TokenType::user_defined || (control && (type == TokenType::control || type == TokenType::unknown));
    if (!wanted || v.tokens[id].empty()) continue;
    auto const first = static_cast<unsigned char>(v.tokens[id].front());
    by_first_byte_[first].push_back(
        {v.tokens[id], static_cast<std::int32_t>(id), v.strips.empty() ? Strip{} : v.strips[id]});
  }
  for (auto& list : by_first_byte_)
    std::ranges::stable_sort(list, std::greater{}, [](Special const& s) { return s.text.size(); });
}

Specials::Special const* Specials::at(std::string_view text) const {
  for (Special const& special : by_first_byte_[static_cast<unsigned char>(text.front())])
    if (text.starts_with(special.text)) return &special;
  return nullptr;
}

std::vector<Stretch> Specials::stretches(std::string_view text) const {
  std::vector<Stretch> found;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    Special const* const special = this->at(text.substr(at));
    if (special == nullptr) {
      ++at;
      continue;
    }
    std::string_view before = text.substr(from, at - from);
    if (special->strip.left) before.remove_suffix(trailing_space(before));
    if (!before.empty()) found.push_back({before});
    found.push_back({text.substr(at, special->text.size()), special->id});
    at += special->text.size();
    if (special->strip.right) at += leading_space(text.substr(at));
    from = at;
  }
  if (from < text.size()) found.push_back({text.substr(from)});
  return found;
}

}  // namespace sextant::tokens
