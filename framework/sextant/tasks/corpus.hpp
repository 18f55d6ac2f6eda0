// Real text as bytes: built once on the user's machine from an installed system package, or read from the user's own file.
// Sextant ships no text of others. A token here is a byte.
//
// In the cache a corpus NAME is NAME.json beside NAME-SHA.txt; writing the first is what makes the corpus exist, so a reader
// never sees half of one. NAME.json holds name, file, bytes, sha256, licence and source (packages with versions).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::tasks {

/// A text that Sextant knows how to make.
struct CorpusRecipe {
  std::string name;
  std::string about;                  ///< what it is, in a line
  std::vector<std::string> packages;  ///< Debian packages that must be installed
  std::string licence;
  std::string command;  ///< shell command whose output is the text
};
std::vector<CorpusRecipe> const& corpus_recipes();

/// What NAME.json says.
struct CorpusRecord {
  std::string name, file, sha256, licence, source;
  std::int64_t bytes = 0;
};

struct Corpus {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::string sha256, licence, source;
};

/// $SEXTANT_CACHE, else $XDG_CACHE_HOME/sextant, else ~/.cache/sextant.
std::filesystem::path default_cache();

/// The record of a corpus in the cache; empty when it has not been built.
std::optional<CorpusRecord> corpus_record(std::string const& name, std::filesystem::path const& cache);

/// Builds a known corpus, again if it is there. Throws Error naming the package to install when it is missing.
CorpusRecord add_corpus(std::string const& name, std::filesystem::path const& cache);
CorpusRecord add_corpus(CorpusRecipe const& recipe, std::filesystem::path const& cache);

/// A known corpus (built first if need be) or the file at a path. Throws Error when a built text no longer has the sha256
/// it was recorded with.
Corpus load_corpus(std::string const& name_or_path, std::filesystem::path const& cache);

/// The beginning of a text for training and its end for testing.
struct Split {
  std::span<std::uint8_t const> train, test;
};

/// Shares in (0, 1), together at most 1; each boundary is rounded to the nearest byte. The corpus must outlive the spans.
Split split(Corpus const& corpus, double train_share, double test_share);

}  // namespace sextant::tasks
