// Hugging Face's tokenizer.json, as far as it describes byte-level BPE.
#pragma once
#include <sextant/tokens/vocabulary.hpp>

#include <filesystem>
#include <string>

namespace sextant::tokens {

/// Reads model BPE with pre-tokenizers ByteLevel, Split and Digits (or a sequence of them), normaliser NFC or none, added
/// tokens, and a template that puts tokens before or after a text. `truncation` and `padding` are what a program set last,
/// and are left aside. Throws Error with the path in the file, what stands there and what Sextant reads.
Vocabulary read_tokenizer_json(std::filesystem::path const& path);

/// The same from the text of a file; `where` names it in messages.
Vocabulary parse_tokenizer_json(std::string const& json, std::string const& where);

}  // namespace sextant::tokens
