#include <sextant/pretrained/store.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/run/text.hpp>

namespace sextant::run {
namespace {
constexpr char const* bytes = "bytes";

tasks::TokenText in_tokens(tasks::Corpus const& corpus, std::optional<tokens::Tokenizer> const& tokenizer,
                           fs::path const& cache) {
  return tokenizer ? tasks::tokenize(corpus, *tokenizer, cache) : tasks::bytes_as_tokens(corpus);
}
}  // namespace

std::optional<tokens::Tokenizer> tokenizer_of(std::string const& tokens, fs::path const& cache) {
  if (tokens == bytes) return {};
  return tokens::Tokenizer(pretrained::vocabulary_of(pretrained::find_model(tokens, cache)));
}

tasks::TokenText load_text(spec::Data const& data, fs::path const& cache) {
  return in_tokens(tasks::load_corpus(data.corpus, cache), tokenizer_of(data.tokens, cache), cache);
}

tasks::Split split_of(tasks::TokenText const& text, spec::Data const& data) {
  bool const whole = data.split.cut == spec::Cut::documents;
  return tasks::split(text, data.split.train, data.split.test, whole ? tasks::Cut::documents : tasks::Cut::contiguous);
}

plan::CorpusFacts facts_of(spec::Data const& data, fs::path const& cache) {
  auto const corpus = tasks::load_corpus(data.corpus, cache);
  auto const tokenizer = tokenizer_of(data.tokens, cache);
  auto const text = in_tokens(corpus, tokenizer, cache);
  auto const part = split_of(text, data);
  bool const by_document = tokenizer || data.split.cut == spec::Cut::documents;
  return {.sha256 = by_document ? corpus.sha256_of_documents() : corpus.sha256,
          .train = static_cast<std::int64_t>(part.train.size()),
          .test = static_cast<std::int64_t>(part.test.size()),
          .tokenizer_sha256 = tokenizer ? tokenizer->fingerprint() : "",
          .vocabulary = text.vocabulary};
}

}  // namespace sextant::run
