// Documents as a real model reads them: whole, and in the tokens of its vocabulary.
#pragma once
#include <sextant/tasks/corpus.hpp>
#include <sextant/tokens/tokenizer.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sextant::tasks {

struct TokenDocument {
  std::string name;
  std::vector<std::int32_t> ids;
  std::int64_t bytes = 0;          ///< of the text; 0 where only ids were given
  std::int64_t dropped_bytes = 0;  ///< for which the vocabulary has no token
};

/// The documents of a corpus that have at least `min_tokens` tokens, whole, in the order of the corpus; at most `most` of
/// them (0: all). Control tokens written out in a text are text, and none is put before or after it. Throws Error when not
/// one is long enough, with the longest.
std::vector<TokenDocument> documents(Corpus const& corpus, tokens::Tokenizer const& tokenizer, std::int64_t min_tokens,
                                     int most = 0);

/// A file of token ids made elsewhere, one document: .npy (one dimension of uint16, int32, uint32 or int64) or .bin (uint16,
/// little-endian, no header). Throws Error with the byte or index, what is there and what was expected: a file cut short,
/// another type or shape, an id outside [0, vocabulary).
TokenDocument read_token_ids(std::filesystem::path const& path, std::int32_t vocabulary);

}  // namespace sextant::tasks
