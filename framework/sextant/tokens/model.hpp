// How a stretch of ordinary text becomes tokens: the part in which the kinds of tokenizer differ.
#pragma once
#include <sextant/tokens/tokenizer.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace sextant::tokens {

class Model {
 public:
  virtual ~Model() = default;

  /// Appends the tokens of a text without special ones. Any bytes are welcome.
  virtual void encode(std::string_view text, Encoded& out) const = 0;

  /// The bytes that an ordinary token stands for.
  virtual std::string bytes(std::string const& token, TokenType type) const = 0;

  /// What encode() puts before every text, and decode() takes away.
  virtual std::string_view prefix() const { return ""; }

  virtual bool adds_bos() const = 0;  ///< when the file does not say
};

/// The vocabulary must outlive the model. Both throw Error for what they cannot do.
std::unique_ptr<Model> byte_level_bpe(Vocabulary const& vocabulary);
std::unique_ptr<Model> sentence_piece(Vocabulary const& vocabulary);

}  // namespace sextant::tokens
