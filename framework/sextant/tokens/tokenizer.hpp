// Text to token ids and back, exactly as the model that the vocabulary belongs to was trained.
#pragma once
#include <sextant/tokens/vocabulary.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::tokens {

/// What becomes of bytes that are no UTF-8.
enum class Stray {
  keep,     ///< split like U+FFFD and encoded as the bytes they are, so that decode gives them back
  replace,  ///< become U+FFFD, one for each byte, as in llama.cpp
};

struct EncodeOptions {
  bool control = false;  ///< control tokens written out in the text (<|endoftext|>) are tokens, not text
  bool add = false;      ///< begin and end with the tokens that the vocabulary asks for
  Stray stray = Stray::keep;
};

struct Encoded {
  std::vector<std::int32_t> ids;
  std::int64_t dropped = 0;  ///< bytes that the vocabulary has no token for; Hugging Face's and llama.cpp drop them too
};

/// Byte-level BPE (GPT-2, Llama 3, SmolLM2, Qwen, Mistral's tekken) or SentencePiece BPE (Llama 2, Mistral v1, Gemma).
/// Immutable; may be used from many threads.
class Tokenizer {
 public:
  /// Throws Error, with the vocabulary's file, for a kind or pre-tokenizer that is not known, merges of tokens that do not
  /// exist, lists of different lengths and ids out of range.
  explicit Tokenizer(Vocabulary vocabulary);

  Encoded encode(std::string_view bytes, EncodeOptions const& options = {}) const;

  /// The bytes of the tokens, one after another; a SentencePiece text loses the space put before it. Throws Error for an id
  /// out of range.
  std::string decode(std::span<std::int32_t const> ids) const;

  /// What one token adds to a text. Control tokens are written out.
  std::string const& token_bytes(std::int32_t id) const;

  std::int32_t size() const;
  Vocabulary const& vocabulary() const;

  /// SHA-256 of all that determines the ids: part of the identity of a text in tokens.
  std::string fingerprint() const;

 private:
  struct Parts;
  std::shared_ptr<Parts const> parts_;
};

}  // namespace sextant::tokens
