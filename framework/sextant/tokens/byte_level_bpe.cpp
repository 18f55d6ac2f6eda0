// Byte-level BPE: text is cut into pieces, a piece into bytes, and pairs of tokens merge in the order of the list of merges.
#include <sextant/base/error.hpp>
#include <sextant/tokens/byte_level.hpp>
#include <sextant/tokens/merge.hpp>
#include <sextant/tokens/model.hpp>
#include <sextant/tokens/pattern.hpp>
#include <sextant/tokens/splits.hpp>
#include <sextant/tokens/utf8.hpp>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace sextant::tokens {
namespace {

using Ids = std::unordered_map<std::string, std::int32_t>;

Ids ids_by_text(std::vector<std::string> const& tokens) {
  Ids ids;
  ids.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) ids.emplace(tokens[id], static_cast<std::int32_t>(id));
  return ids;
}

class MergeTable {
 public:
  MergeTable(Vocabulary const& v, Ids const& ids) {
    ranked_.reserve(v.merges.size());
    for (std::size_t rank = 0; rank < v.merges.size(); ++rank) {
      std::string const& line = v.merges[rank];
      auto const space = line.find(' ', 1);
      expect(space != std::string::npos && line.find(' ', space + 1) == std::string::npos, v.where, ": merge ", rank,
             " is \"", line, "\", expected two tokens and a space between them");
      std::string const left = line.substr(0, space), right = line.substr(space + 1);
      auto const id_of = [&](std::string const& token) {
        auto const found = ids.find(token);
        expect(found != ids.end(), v.where, ": merge ", rank, " is \"", line, "\", and \"", token, "\" is no token");
        return found->second;
      };
      std::int32_t const left_id = id_of(left), right_id = id_of(right);
      ranked_.emplace(key(left_id, right_id), Candidate{static_cast<double>(rank), id_of(left + right)});
    }
  }

  Candidate operator()(Symbol const& left, Symbol const& right) const {
    auto const found = ranked_.find(key(left.id, right.id));
    return found == ranked_.end() ? Candidate{} : found->second;
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 | static_cast<std::uint32_t>(right);
  }
  std::unordered_map<std::uint64_t, Candidate> ranked_;
};

/// The byte vocabulary of the pieces, and how a text is cut into them.
class ByteLevelBpe : public Model {
 public:
  explicit ByteLevelBpe(Vocabulary const& v) : v_(v), rule_(rule_of(v)), ids_(ids_by_text(v.tokens)), merges_(v, ids_) {
    for (std::string const& pattern : rule_.patterns) patterns_.emplace_back(pattern);
    for (int b = 0; b < 256; ++b) {
      character_[b] = byte_character(static_cast<std::uint8_t>(b));
      auto const found = ids_.find(character_[b]);
      byte_id_[b] = found == ids_.end() ? -1 : found->second;
    }
    expect(!v.unk_for_bytes || v.unk, v.where, ": bytes without a token become the unknown token, which is not named");
  }

  void encode(std::string_view text, Encoded& out) const override {
    std::string own;
    if (v_.nfc) text = own = to_nfc(text);
    if (v_.prefix_space && !text.starts_with(' ')) text = own = std::string(1, ' ').append(text);
    std::vector<std::size_t> const strays = stray_bytes(text);
    std::string shadow;
    if (!strays.empty()) shadow = replace_strays(text, strays);
    std::vector<std::string_view> pieces{strays.empty() ? text : shadow};
    for (Pattern const& pattern : patterns_) pieces = pattern.cut(pieces);
    auto stray = strays.begin();
    std::size_t at = 0;
    for (std::string_view const piece : pieces) {
      std::size_t length = 0;  // of the piece in the text itself, where a stray byte is one and not U+FFFD's three
      for (std::size_t left = piece.size(); left > 0;) {
        auto const plain = stray == strays.end() ? left : std::min(left, *stray - (at + length));
        length += plain;
        left -= plain;
        if (left == 0) break;
        ++stray;
        ++length;
        left -= 3;
      }
      encode_piece(text.substr(at, length), out);
      at += length;
    }
  }

  std::string bytes(std::string const& token, TokenType) const override {
    return bytes_of_characters(token).value_or(token);
  }

  bool adds_bos() const override { return rule_.add_bos; }

 private:
  static SplitRule rule_of(Vocabulary const& v) {
    SplitRule rule = v.splits.empty() ? split_rule(v.pre, v.where) : SplitRule{v.pre, v.splits};
    if (v.ignore_merges) rule.ignore_merges = *v.ignore_merges;
    return rule;
  }

  void encode_piece(std::string_view piece, Encoded& out) const {
    if (rule_.ignore_merges) {
      std::string token;
      for (char const c : piece) token += character_[static_cast<unsigned char>(c)];
      if (auto const found = ids_.find(token); found != ids_.end()) return out.ids.push_back(found->second);
    }
    std::vector<Symbol> symbols = symbols_of(piece, out);
    merge(symbols, merges_);
    for (Symbol const& symbol : symbols) out.ids.push_back(symbol.id);
  }

  std::vector<Symbol> symbols_of(std::string_view piece, Encoded& out) const {
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    bool unknown_before = false;
    for (std::size_t at = 0; at < piece.size(); ++at) {
      std::int32_t const id = byte_id_[static_cast<unsigned char>(piece[at])];
      if (id < 0 && !v_.unk_for_bytes) {
        ++out.dropped;
        continue;
      }
      if (id >= 0 || !(unknown_before && v_.fuse_unk)) symbols.push_back({id < 0 ? *v_.unk : id, at, 1});
      unknown_before = id < 0;
    }
    return symbols;
  }

  Vocabulary const& v_;
  SplitRule rule_;
  Ids ids_;
  MergeTable merges_;
  std::vector<Pattern> patterns_;
  std::array<std::string, 256> character_;
  std::array<std::int32_t, 256> byte_id_;
};

}  // namespace

std::unique_ptr<Model> byte_level_bpe(Vocabulary const& v) {
  expect(!v.merges.empty() || v.tokens.size() == 256, v.where,
         " has a byte-level vocabulary and no merges (tokenizer.ggml.merges)");
  return std::make_unique<ByteLevelBpe>(v);
}

}  // namespace sextant::tokens
