// A corpus in the tokens of a vocabulary: what models are trained on and measured on. Bytes are the vocabulary of 256 that
// needs no tokenizer.
//
// Every document is encoded by itself, so that its tokens depend on no other, and the same documents, or the same bytes to the
// nearest token, are held out under every vocabulary.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/tasks/corpus.hpp>
#include <sextant/tokens/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::tasks {

struct TokenText {
  std::string name;
  int vocabulary = 256;
  std::vector<std::int32_t> ids;     ///< document after document
  std::vector<Document> documents;   ///< as they lie in the text, in bytes
  std::vector<std::int64_t> begins;  ///< where each of them begins in ids, and after the last, how many ids there are
  std::vector<int> token_bytes;      ///< by id: bytes of text that it stands for
  /// The ids' bytes are those of the text, document by document: false where a tokenizer normalises, adds or drops some.
  bool exact = true;

  /// Bytes that these ids stand for.
  std::int64_t bytes_of(std::span<std::int32_t const> some) const;
};

TokenText bytes_as_tokens(Corpus const& corpus);

/// Through the cache: ids lie in cache/tokens/, named by the corpus and the tokenizer, and are checked by the hashes of both
/// and their own; what does not agree is encoded again. Control tokens written out in a text are text, and none is added.
TokenText tokenize(Corpus const& corpus, tokens::Tokenizer const& tokenizer, fs::path const& cache);

/// Where tokenize() keeps the ids.
fs::path ids_file(Corpus const& corpus, tokens::Tokenizer const& tokenizer, fs::path const& cache);

struct Split {
  std::vector<std::int32_t> train, test;
};

/// Shares of the bytes, in (0, 1), together at most 1. A contiguous cut is rounded to the nearest byte, and a token that lies
/// across it belongs to neither part.
Split split(TokenText const& text, double train_share, double test_share, Cut cut = Cut::contiguous);

}  // namespace sextant::tasks
