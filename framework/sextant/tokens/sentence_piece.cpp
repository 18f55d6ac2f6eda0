// SentencePiece BPE as llama.cpp reads it from GGUF: the text is one piece, spaces are written as U+2581, the pair that makes
// the token of the highest score merges first, and what is no token is spelt in byte tokens <0x00> to <0xFF>.
#include <sextant/base/error.hpp>
#include <sextant/tokens/merge.hpp>
#include <sextant/tokens/model.hpp>
#include <sextant/tokens/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace sextant::tokens {
namespace {

constexpr std::string_view space_mark = "\xE2\x96\x81";  // U+2581

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string_view::npos; at = found + from.size())
    out.append(text.substr(at, found - at)).append(to);
  return out.append(text.substr(at));
}

class SentencePiece : public Model {
 public:
  explicit SentencePiece(Vocabulary const& v) : v_(v) {
    for (std::size_t id = 0; id < v.tokens.size(); ++id) {
      ids_.emplace(v.tokens[id], static_cast<std::int32_t>(id));
      longest_ = std::max(longest_, v.tokens[id].size());
    }
    for (int b = 0; b < 256; ++b) byte_id_[b] = id_of(fmt::format("<0x{:02X}>", b));
  }

  void encode(std::string_view raw, Encoded& out) const override {
    std::string const text = replace_all(std::string(prefix()) + std::string(raw), " ", space_mark);
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t const length = std::max<std::size_t>(1, character_length(text, at));
      symbols.push_back({id_of(std::string_view(text).substr(at, length)), at, length});
      at += length;
    }
    merge(symbols, [&](Symbol const& left, Symbol const& right) -> Candidate {
      std::int32_t const id = id_of(std::string_view(text).substr(left.begin, left.size + right.size));
      return id < 0 ? Candidate{} : Candidate{-static_cast<double>(v_.scores[id]), id};
    });
    for (Symbol const& symbol : symbols)
      if (symbol.id >= 0)
        out.ids.push_back(symbol.id);
      else
        spell(std::string_view(text).substr(symbol.begin, symbol.size), out);
  }

  std::string bytes(std::string const& token, TokenType type) const override {
    if (type == TokenType::byte) return std::string(1, static_cast<char>(std::stoi(token.substr(1, 4), nullptr, 16)));
    return replace_all(token, space_mark, " ");
  }

  std::string_view prefix() const override { return v_.add_space_prefix.value_or(true) ? " " : ""; }
  bool adds_bos() const override { return true; }

 private:
  std::int32_t id_of(std::string_view token) const {
    if (token.size() > longest_) return -1;
    auto const found = ids_.find(std::string(token));
    return found == ids_.end() ? -1 : found->second;
  }

  void spell(std::string_view bytes, Encoded& out) const {
    for (char const c : bytes) {
      std::int32_t const id = byte_id_[static_cast<unsigned char>(c)];
      if (id >= 0)
        out.ids.push_back(id);
      else if (v_.unk)
        out.ids.push_back(*v_.unk);
      else
        ++out.dropped;
    }
  }

  Vocabulary const& v_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::size_t longest_ = 0;
  std::array<std::int32_t, 256> byte_id_;
};

}  // namespace

std::unique_ptr<Model> sentence_piece(Vocabulary const& v) {
  expect(v.scores.size() == v.tokens.size(), v.where, ": ", v.scores.size(), " scores (tokenizer.ggml.scores) for ",
         v.tokens.size(), " tokens, expected one each");
  for (std::size_t id = 0; id < v.types.size(); ++id) {
    std::string const& token = v.tokens[id];
    bool const spelt = token.size() == 6 && token.starts_with("<0x") && token.back() == '>' &&
                       token.find_first_not_of("0123456789ABCDEF", 3) == 5;
    expect(v.types[id] != TokenType::byte || spelt, v.where, ": token ", id, " is of type byte and written \"", token,
           "\", expected <0x00> to <0xFF>");
  }
  return std::make_unique<SentencePiece>(v);
}

}  // namespace sextant::tokens
