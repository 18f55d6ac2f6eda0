#include <sextant/base/error.hpp>
#include <sextant/tasks/token_documents.hpp>

#include <algorithm>

namespace sextant::tasks {

std::vector<TokenDocument> documents(Corpus const& corpus, tokens::Tokenizer const& tokenizer, std::int64_t min_tokens,
                                     int most) {
  std::vector<TokenDocument> found;
  std::int64_t longest = 0;
  for (Document const& document : corpus.documents) {
    if (most > 0 && static_cast<int>(found.size()) == most) break;
    if (document.length < min_tokens) continue;  // a token is a byte or more
    auto encoded = tokenizer.encode(text_of(corpus, document));
    auto const count = static_cast<std::int64_t>(encoded.ids.size());
    longest = std::max(longest, count);
    if (count >= min_tokens) found.push_back({document.name, std::move(encoded.ids), document.length, encoded.dropped});
  }
  expect(!found.empty(), corpus.name, " has no document of ", min_tokens, " tokens: the longest of ",
         corpus.documents.size(), longest > 0 ? text(" has ", longest) : " has fewer bytes than that");
  return found;
}

}  // namespace sextant::tasks
