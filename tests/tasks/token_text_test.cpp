// Texts in tokens against Tokenizer itself, and splits against the bytes that tokens decode to.
#include <sextant/base/error.hpp>
#include <sextant/tasks/token_text.hpp>
#include <sextant/tokens/bytes.hpp>

#include <catch2/catch_all.hpp>

#include <numeric>

#include "support/temp_folder.hpp"
#include "tokens/data.hpp"

using namespace sextant;
using namespace sextant::tasks;
using tokens::Tokenizer;

namespace token_text_test {
namespace {
/// Documents of hard strings, some of them long.
Corpus hard_corpus() {
  Corpus out{"hard", {}, "", "", "", {}};
  std::string all;
  for (std::size_t n = 0; n < test::hard_strings().size(); ++n) {
    std::string document;
    for (std::size_t k = 0; k <= n % 4; ++k) document += test::hard_strings()[n] + " the text goes on, 123 times; ";
    out.documents.push_back(
        {text("d", n), static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(document.size())});
    all += document;
  }
  out.bytes.assign(all.begin(), all.end());
  out.sha256 = sha256(all);
  return out;
}
std::string document_text(Corpus const& corpus) { return {corpus.bytes.begin(), corpus.bytes.end()}; }
std::string document_text(Corpus const& corpus, Document const& d) {
  return document_text(corpus).substr(static_cast<std::size_t>(d.offset), static_cast<std::size_t>(d.length));
}
Tokenizer tiny() { return Tokenizer(test::tiny_named("gpt-2")); }
}  // namespace

TEST_CASE("token text: every document has the ids that its tokenizer gives it alone, also out of the cache",
          "[tasks][tokens]") {
  test::TempFolder const cache;
  Corpus const corpus = hard_corpus();
  Tokenizer const tokenizer = tiny();
  std::vector<std::int32_t> expected;
  std::vector<std::int64_t> begins{0};
  for (auto const& document : corpus.documents) {
    auto const ids = tokenizer.encode(document_text(corpus, document)).ids;
    expected.insert(expected.end(), ids.begin(), ids.end());
    begins.push_back(static_cast<std::int64_t>(expected.size()));
  }
  REQUIRE(expected.size() < corpus.bytes.size());  // some tokens are longer than a byte
  for (int round = 0; round < 2; ++round) {
    TokenText const made = tokenize(corpus, tokenizer, cache.path());
    CHECK(made.ids == expected);
    CHECK(made.begins == begins);
    CHECK(made.exact);
    CHECK(made.bytes_of(made.ids) == static_cast<std::int64_t>(corpus.bytes.size()));
    CHECK(fs::exists(ids_file(corpus, tokenizer, cache.path())));
  }
}

TEST_CASE("token text: ids in the cache are read again, and encoded again where anything does not agree",
          "[tasks][tokens]") {
  test::TempFolder const cache;
  Corpus const corpus = hard_corpus();
  Tokenizer const tokenizer = tiny();
  auto const expected = tokenize(corpus, tokenizer, cache.path()).ids;
  fs::path const file = ids_file(corpus, tokenizer, cache.path());
  std::string const whole = read_file(file);
  // A file whose hashes agree is believed: other ids under their own hash show that the cache is read at all.
  auto head = nlohmann::json::parse(whole.substr(0, whole.find('\n')));
  std::string ids = whole.substr(whole.find('\n') + 1);
  std::swap(ids[0], ids[4]), std::swap(ids[1], ids[5]);
  head["sha256"] = sha256(ids);
  write_file_atomically(file, head.dump() + "\n" + ids);
  auto const swapped = tokenize(corpus, tokenizer, cache.path()).ids;
  CHECK(swapped[0] == expected[1]);
  CHECK(swapped[1] == expected[0]);
  auto const heals = [&](std::string const& content) {
    write_file_atomically(file, content);
    CHECK(tokenize(corpus, tokenizer, cache.path()).ids == expected);
    CHECK(read_file(file) == whole);
  };
  std::string bent = whole;
  bent.back() = static_cast<char>(bent.back() ^ 1);
  heals(bent);
  heals(whole.substr(0, whole.size() - 4));
  heals("no head");
  heals("");
  for (char const* key : {"corpus", "tokenizer"}) {
    head = nlohmann::json::parse(whole.substr(0, whole.find('\n')));
    head[key] = std::string(64, '0');
    heals(head.dump() + whole.substr(whole.find('\n')));
  }
}

TEST_CASE("token text: another text, other documents or another tokenizer has another file", "[tasks][tokens]") {
  Corpus const corpus = hard_corpus();
  Corpus merged = corpus, other = corpus;
  merged.documents = {{"all", 0, static_cast<std::int64_t>(corpus.bytes.size())}};
  other.sha256 = sha256("other");
  auto const name = [](Corpus const& c, Tokenizer const& t) { return ids_file(c, t, "cache"); };
  CHECK(name(corpus, tiny()) != name(merged, tiny()));
  CHECK(name(corpus, tiny()) != name(other, tiny()));
  CHECK(name(corpus, tiny()) != name(corpus, Tokenizer(test::tiny_named("llama-bpe"))));
}

TEST_CASE("token text: a contiguous cut decodes to the beginning and the end of the text, to the token",
          "[tasks][split]") {
  test::TempFolder const cache;
  Corpus const corpus = hard_corpus();
  Tokenizer const tokenizer = tiny();
  std::string const all = document_text(corpus);
  TokenText const made = tokenize(corpus, tokenizer, cache.path());
  std::size_t const longest = static_cast<std::size_t>(*std::ranges::max_element(made.token_bytes));
  for (double const share : {0.5, 0.6137, 0.9}) {
    Split const part = split(made, share, 1 - share);
    std::string const train = tokenizer.decode(part.train), test = tokenizer.decode(part.test);
    auto const cut = static_cast<std::size_t>(std::llround(share * static_cast<double>(all.size())));
    CHECK(all.starts_with(train));
    CHECK(train.size() <= cut);
    CHECK(train.size() + longest > cut);
    CHECK(all.ends_with(test));
    CHECK(test.size() <= all.size() - cut);
    CHECK(test.size() + longest > all.size() - cut);
    auto const across = made.ids.size() - part.train.size() - part.test.size();
    CHECK(across <= 1);  // the token across the cut is in neither
  }
}

TEST_CASE("token text: held-out documents are those of the bytes, and no token of theirs trains", "[tasks][split]") {
  test::TempFolder const cache;
  Corpus const corpus = hard_corpus();
  Tokenizer const tokenizer = tiny();
  TokenText const made = tokenize(corpus, tokenizer, cache.path());
  Split const part = split(made, 0.7, 0.3, Cut::documents);
  Division const by_name = divide(corpus.documents, 0.7, 0.3);
  auto const joined = [&](std::vector<Document> const& list) {
    std::string out;
    for (auto const& d : list) out += document_text(corpus, d);
    return out;
  };
  CHECK(tokenizer.decode(part.train) == joined(by_name.train));
  CHECK(tokenizer.decode(part.test) == joined(by_name.test));
  CHECK(part.train.size() + part.test.size() == made.ids.size());
}

TEST_CASE("token text: bytes as tokens and the vocabulary of bytes are the bytes", "[tasks][tokens]") {
  test::TempFolder const cache;
  Corpus corpus{"bytes", {}, "sha", "", "", {{"all", 0, 512}}};
  for (int i = 0; i < 512; ++i) corpus.bytes.push_back(static_cast<std::uint8_t>(i * 7));
  TokenText const plain = bytes_as_tokens(corpus),
                  made = tokenize(corpus, Tokenizer(tokens::byte_vocabulary()), cache.path());
  CHECK(plain.ids == std::vector<std::int32_t>(corpus.bytes.begin(), corpus.bytes.end()));
  CHECK(made.ids == plain.ids);
  CHECK(made.vocabulary == 256);
  CHECK(made.token_bytes == plain.token_bytes);
}
}  // namespace token_text_test
