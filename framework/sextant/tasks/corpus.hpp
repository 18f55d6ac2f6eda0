// Real text as bytes: built once on the user's machine from an installed system package, or read from the user's own file.
// Sextant ships no text of others. token_text.hpp makes tokens of it.
//
// In the cache a corpus NAME is NAME.json beside NAME-SHA.txt; writing the first is what makes the corpus exist, so a reader
// never sees half of one. NAME.json holds name, file, bytes, sha256, licence, source (packages with versions) and documents.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sextant/tasks/documents.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::tasks {

/// A text that Sextant knows how to make.
struct CorpusRecipe {
  std::string name;
  std::string about;                  ///< what it is, in a line
  std::vector<std::string> packages;  ///< Debian packages that must be installed
  std::string licence;
  std::string command;  ///< shell command whose output is the text, or its documents as parse_documents() reads them
};
std::vector<CorpusRecipe> const& corpus_recipes();

/// What NAME.json says.
struct CorpusRecord {
  std::string name, file, sha256, licence, source;
  std::int64_t bytes = 0;
  std::vector<Document> documents;
};

struct Corpus {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::string sha256, licence, source;
  std::vector<Document> documents;  ///< of one's own: the file, or the files of a folder

  /// SHA-256 of the text and of where its documents begin, by name.
  std::string sha256_of_documents() const;
};

/// $SEXTANT_CACHE, else $XDG_CACHE_HOME/sextant, else ~/.cache/sextant.
std::filesystem::path default_cache();

/// The record of a corpus in the cache; empty when it has not been built.
std::optional<CorpusRecord> corpus_record(std::string const& name, std::filesystem::path const& cache);

/// Builds a known corpus, again if it is there. Throws Error naming the package to install when it is missing.
CorpusRecord add_corpus(std::string const& name, std::filesystem::path const& cache);
CorpusRecord add_corpus(CorpusRecipe const& recipe, std::filesystem::path const& cache);

/// A known corpus (built first if need be), the file at a path, or the .txt and .md files of a folder and of those below, in
/// the order of their names. Throws Error when a built text no longer has the sha256 it was recorded with, and for files that
/// hold token ids (.npy, .bin), which are no text.
Corpus load_corpus(std::string const& name_or_path, std::filesystem::path const& cache);

enum class Cut {
  contiguous,  ///< the beginning trains, the end tests
  documents,   ///< whole documents are held out, drawn by their names: see divide()
};

/// The bytes of one of its documents; valid as long as the corpus is.
std::string_view text_of(Corpus const& corpus, Document const& document);

}  // namespace sextant::tasks
