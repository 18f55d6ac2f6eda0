#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tokens/model.hpp>
#include <sextant/tokens/specials.hpp>
#include <sextant/tokens/utf8.hpp>

#include <algorithm>

namespace sextant::tokens {
namespace {

void check_sizes(Vocabulary const& v) {
  auto const count = v.tokens.size();
  expect(count > 0, v.where, " has no tokens (tokenizer.ggml.tokens)");
  expect(v.types.empty() || v.types.size() == count, v.where, ": ", v.types.size(), " token types for ", count,
         " tokens, expected one each");
  expect(v.strips.empty() || v.strips.size() == count, v.where, ": ", v.strips.size(), " strips for ", count,
         " tokens, expected one each");
  for (std::size_t id = 0; id < v.types.size(); ++id) {
    auto const type = static_cast<int>(v.types[id]);
    expect(type >= 1 && type <= 6, v.where, ": token ", id, " is of type ", type, ", expected 1 to 6");
  }
}

void check_special(Vocabulary const& v, char const* name, std::optional<std::int32_t> id, bool needed) {
  expect(!id || (*id >= 0 && *id < static_cast<std::int32_t>(v.tokens.size())), v.where, ": the ", name, " token is ",
         id.value_or(0), ", expected an id below ", v.tokens.size());
  expect(id || !needed, v.where, ": texts are to have a ", name, " token, and none is named");
}

std::unique_ptr<Model> model_of(Vocabulary const& v) {
  if (v.model == "gpt2") return byte_level_bpe(v);
  if (v.model == "llama") return sentence_piece(v);
  fail(v.where, ": tokenizer model is ", v.model.empty() ? "not named" : v.model,
       ", expected gpt2 (byte-level BPE) or llama (SentencePiece BPE)");
}

TokenType type_of(Vocabulary const& v, std::size_t id) { return v.types.empty() ? TokenType::normal : v.types[id]; }

bool written_out(TokenType type) {
  return type == TokenType::control || type == TokenType::user_defined || type == TokenType::unknown;
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(Vocabulary from)
      : vocabulary((check_sizes(from), std::move(from))),
        model(model_of(vocabulary)),
        add_bos(vocabulary.add_bos.value_or(model->adds_bos())),
        add_eos(vocabulary.add_eos.value_or(false)),
        all(vocabulary, true),
        user_defined(vocabulary, false) {
    check_special(vocabulary, "bos", vocabulary.bos, add_bos);
    check_special(vocabulary, "eos", vocabulary.eos, add_eos);
    check_special(vocabulary, "unk", vocabulary.unk, false);
    check_special(vocabulary, "pad", vocabulary.pad, false);
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
      auto const& token = vocabulary.tokens[id];
      auto const type = type_of(vocabulary, id);
      bytes.push_back(written_out(type) ? token : model->bytes(token, type));
    }
  }

  Vocabulary vocabulary;
  std::unique_ptr<Model> model;
  bool add_bos, add_eos;
  Specials all, user_defined;
  std::vector<std::string> bytes;  // by token
};

Tokenizer::Tokenizer(Vocabulary vocabulary) : parts_(std::make_shared<Parts>(std::move(vocabulary))) {}

Encoded Tokenizer::encode(std::string_view bytes, EncodeOptions const& options) const {
  std::string own;
  if (options.stray == Stray::replace)
    if (auto const strays = stray_bytes(bytes); !strays.empty()) bytes = own = replace_strays(bytes, strays);
  Encoded out;
  if (options.add && parts_->add_bos) out.ids.push_back(*parts_->vocabulary.bos);
  for (Stretch const& stretch : (options.control ? parts_->all : parts_->user_defined).stretches(bytes))
    if (stretch.id >= 0)
      out.ids.push_back(stretch.id);
    else
      parts_->model->encode(stretch.text, out);
  if (options.add && parts_->add_eos) out.ids.push_back(*parts_->vocabulary.eos);
  return out;
}

std::string Tokenizer::decode(std::span<std::int32_t const> ids) const {
  std::string_view const prefix = parts_->model->prefix();
  std::string out;
  bool begins = true;  // a stretch of ordinary text
  for (std::int32_t const id : ids) {
    std::string_view bytes = token_bytes(id);
    bool const special = written_out(type_of(parts_->vocabulary, id));
    if (begins && !special && !prefix.empty() && bytes.starts_with(prefix)) bytes.remove_prefix(prefix.size());
    out += bytes;
    begins = special;
  }
  return out;
}

std::string const& Tokenizer::token_bytes(std::int32_t id) const {
  expect(id >= 0 && id < size(), parts_->vocabulary.where, ": there is no token ", id, ", expected 0 to ", size() - 1);
  return parts_->bytes[id];
}

std::int32_t Tokenizer::size() const { return static_cast<std::int32_t>(parts_->bytes.size()); }

Vocabulary const& Tokenizer::vocabulary() const { return parts_->vocabulary; }

std::string Tokenizer::fingerprint() const {
  Vocabulary const& v = parts_->vocabulary;
  std::string all;
  auto const put = [&](auto const& value) { all += text(value) + '\0'; };
  for (auto const* list : {&v.tokens, &v.merges, &v.splits}) {
    put(list->size());
    for (auto const& item : *list) put(item);
  }
  for (TokenType const type : v.types) put(static_cast<int>(type));
  for (float const score : v.scores) put(score);
  for (Strip const& strip : v.strips) put(strip.left + 2 * strip.right);
  for (auto const& id : {v.bos, v.eos, v.unk}) put(id.value_or(-1));
  for (bool const flag : {parts_->add_bos, parts_->add_eos, v.add_space_prefix.value_or(true), v.prefix_space, v.nfc,
                          v.unk_for_bytes, v.fuse_unk, v.ignore_merges.value_or(false)})
    put(flag);
  put(v.model);
  put(v.pre);
  return sha256(all);
}

}  // namespace sextant::tokens
