#include <sextant/base/error.hpp>
#include <sextant/tasks/token_text.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace sextant::tasks {
namespace {
using nlohmann::json;
static_assert(std::endian::native == std::endian::little, "ids are kept as they lie in memory");

std::span<std::int32_t const> ids_of(TokenText const& text, std::size_t document) {
  return std::span(text.ids).subspan(static_cast<std::size_t>(text.begins[document]),
                                     static_cast<std::size_t>(text.begins[document + 1] - text.begins[document]));
}

void encode(TokenText& out, Corpus const& corpus, tokens::Tokenizer const& tokenizer) {
  out.ids.clear();
  out.begins = {0};
  for (Document const& document : corpus.documents) {
    auto const ids = tokenizer.encode(text_of(corpus, document)).ids;
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    out.begins.push_back(static_cast<std::int64_t>(out.ids.size()));
  }
}

/// What the first line of a file of ids says, apart from the hash of the ids.
json head_of(TokenText const& text, std::string const& corpus_sha256, std::string const& tokenizer_sha256) {
  return {{"corpus", corpus_sha256}, {"tokenizer", tokenizer_sha256}, {"begins", text.begins}};
}

std::string_view bytes_of_ids(std::vector<std::int32_t> const& ids) {
  return {reinterpret_cast<char const*>(ids.data()), ids.size() * sizeof(std::int32_t)};
}

/// Fills ids and begins; false when the file is not there or not what it should be.
bool read_ids(TokenText& text, fs::path const& file, std::string const& corpus, std::string const& tokenizer) {
  std::error_code none;
  if (!fs::exists(file, none)) return false;
  std::string const content = read_file(file);
  auto const line = std::min(content.find('\n'), content.size());
  auto const head = json::parse(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(line), nullptr, false);
  if (!head.is_object() || head.value("corpus", "") != corpus || head.value("tokenizer", "") != tokenizer) return false;
  std::string_view const ids = std::string_view(content).substr(std::min(line + 1, content.size()));
  if (head.value("sha256", "") != sha256(ids)) return false;
  text.begins = head.value("begins", std::vector<std::int64_t>());
  text.ids.resize(ids.size() / sizeof(std::int32_t));
  std::memcpy(text.ids.data(), ids.data(), text.ids.size() * sizeof(std::int32_t));
  return text.begins.size() == text.documents.size() + 1 &&
         text.begins.back() == static_cast<std::int64_t>(text.ids.size());
}

/// How many tokens end at `byte` of the text or before.
std::int64_t tokens_before(TokenText const& text, std::int64_t byte) {
  auto const at = std::ranges::upper_bound(text.documents, byte, {}, &Document::offset) - text.documents.begin();
  if (at == 0) return 0;
  auto const n = static_cast<std::size_t>(at - 1);
  auto const ids = ids_of(text, n);
  double const stands_for = static_cast<double>(std::max<std::int64_t>(text.bytes_of(ids), 1));
  double const scale =
      static_cast<double>(text.documents[n].length) / stands_for;  // 1 where the ids' bytes are the text's
  std::int64_t const within = byte - text.documents[n].offset;
  std::int64_t done = 0, count = 0;
  for (auto const id : ids) {
    done += text.token_bytes[static_cast<std::size_t>(id)];
    if (std::llround(static_cast<double>(done) * scale) > within) break;
    ++count;
  }
  return text.begins[n] + count;
}

/// The first token that begins at `byte` or after it.
std::int64_t first_from(TokenText const& text, std::int64_t byte) {
  std::int64_t const before = tokens_before(text, byte);
  return byte == 0 || tokens_before(text, byte - 1) < before || before == static_cast<std::int64_t>(text.ids.size())
             ? before
             : before + 1;
}

std::vector<std::int32_t> ids_of_documents(TokenText const& text, std::vector<Document> const& some) {
  std::vector<std::int32_t> out;
  for (Document const& document : some) {
    auto const n = std::ranges::find(text.documents, document) - text.documents.begin();
    auto const ids = ids_of(text, static_cast<std::size_t>(n));
    out.insert(out.end(), ids.begin(), ids.end());
  }
  return out;
}
}  // namespace

std::int64_t TokenText::bytes_of(std::span<std::int32_t const> some) const {
  return std::accumulate(some.begin(), some.end(), std::int64_t{0}, [&](std::int64_t sum, std::int32_t id) {
    return sum + token_bytes[static_cast<std::size_t>(id)];
  });
}

TokenText bytes_as_tokens(Corpus const& corpus) {
  TokenText out{.name = corpus.name, .documents = corpus.documents};
  out.ids.assign(corpus.bytes.begin(), corpus.bytes.end());
  out.token_bytes.assign(256, 1);
  for (Document const& document : corpus.documents) out.begins.push_back(document.offset);
  out.begins.push_back(static_cast<std::int64_t>(corpus.bytes.size()));
  return out;
}

fs::path ids_file(Corpus const& corpus, tokens::Tokenizer const& tokenizer, fs::path const& cache) {
  return cache / "tokens" /
         (corpus.sha256_of_documents().substr(0, 16) + "-" + tokenizer.fingerprint().substr(0, 16) + ".ids");
}

TokenText tokenize(Corpus const& corpus, tokens::Tokenizer const& tokenizer, fs::path const& cache) {
  TokenText out{.name = corpus.name, .vocabulary = tokenizer.size(), .documents = corpus.documents};
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    out.token_bytes.push_back(static_cast<int>(tokenizer.token_bytes(id).size()));
  std::string const text = corpus.sha256_of_documents(), vocabulary = tokenizer.fingerprint();
  fs::path const file = ids_file(corpus, tokenizer, cache);
  if (!read_ids(out, file, text, vocabulary)) {
    encode(out, corpus, tokenizer);
    auto head = head_of(out, text, vocabulary);
    head["sha256"] = sha256(bytes_of_ids(out.ids));
    fs::create_directories(file.parent_path());
    write_file_atomically(file, head.dump() + "\n" + std::string(bytes_of_ids(out.ids)));
  }
  for (std::size_t n = 0; n < out.documents.size(); ++n)
    out.exact = out.exact && out.bytes_of(ids_of(out, n)) == out.documents[n].length;
  return out;
}

Split split(TokenText const& text, double train_share, double test_share, Cut cut) {
  expect(train_share > 0 && test_share > 0 && train_share + test_share <= 1 + 1e-9, "split of ", text.name, ": train ",
         train_share, " and test ", test_share, ", expected two shares > 0 whose sum is at most 1");
  if (cut == Cut::documents) {
    Division const division = divide(text.documents, train_share, test_share);
    return {ids_of_documents(text, division.train), ids_of_documents(text, division.test)};
  }
  std::int64_t const size = text.documents.empty() ? 0 : text.documents.back().offset + text.documents.back().length;
  auto const share = [&](double part) { return std::llround(part * static_cast<double>(size)); };
  std::int64_t const train = share(train_share), test = std::min<std::int64_t>(size - train, share(test_share));
  return {{text.ids.begin(), text.ids.begin() + tokens_before(text, train)},
          {text.ids.begin() + first_from(text, size - test), text.ids.end()}};
}

}  // namespace sextant::tasks
