#include <catch2/catch_all.hpp>
#include <cstring>
#include <map>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tasks/corpus.hpp>
#include <sextant/tasks/token_documents.hpp>
#include <sextant/tasks/token_text.hpp>
#include <support/temp_folder.hpp>
#include <tokens/data.hpp>

using namespace sextant;
using namespace sextant::tasks;
using namespace std::string_literals;
using Catch::Matchers::ContainsSubstring;
using Documents = std::vector<Document>;

namespace {

CorpusRecipe const three{"three",
                         "three documents",
                         {"libc6"},
                         "public domain",
                         "printf '\\036b\\nsecond\\n\\036a\\nfirst\\n\\036empty\\n\\036c\\nno end'"};

/// Documents d0, d1, ... of these lengths.
Corpus corpus_of(std::vector<std::int64_t> const& lengths) {
  Corpus corpus{"made up", {}, "sha", "", "", {}};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    corpus.documents.push_back({text("d", i), static_cast<std::int64_t>(corpus.bytes.size()), lengths[i]});
    corpus.bytes.insert(corpus.bytes.end(), static_cast<std::size_t>(lengths[i]), static_cast<std::uint8_t>(i));
  }
  return corpus;
}

/// How many bytes of each document a text has.
std::map<int, int> histogram(std::vector<std::int32_t> const& text) {
  std::map<int, int> count;
  for (auto const byte : text) ++count[byte];
  return count;
}

std::string npy(std::string const& type, std::string const& shape, std::string const& numbers) {
  std::string header = text("{'descr': '", type, "', 'fortran_order': False, 'shape': (", shape, "), }");
  header.resize(117, ' ');
  std::string file = "\x93NUMPY\x01\x00\x76\x00"s;  // version 1.0, a header of 118 bytes
  return file.append(header).append("\n").append(numbers);
}

}  // namespace

TEST_CASE("documents: a stream with names is taken apart, in its order, without gaps", "[tasks][documents]") {
  test::TempFolder const cache;
  CorpusRecord const made = add_corpus(three, cache.path());
  CHECK(made.documents == Documents{{"b", 0, 7}, {"a", 7, 6}, {"c", 13, 6}});
  CHECK(read_file(cache / made.file) == "second\nfirst\nno end");
  auto const read = corpus_record("three", cache.path());
  REQUIRE(read);
  CHECK(read->documents == made.documents);
}

TEST_CASE("documents: a stream without names is one document", "[tasks][documents]") {
  CHECK(parse_documents("one\ntwo\n", "all").documents == Documents{{"all", 0, 8}});
}

TEST_CASE("documents: text before the first name, and names that repeat or do not end, are refused",
          "[tasks][documents]") {
  CHECK_THROWS_WITH(parse_documents("x\n\x1E"
                                    "a\ny",
                                    "it"),
                    "it: 2 bytes stand before the first document");
  CHECK_THROWS_WITH(parse_documents("\x1E"
                                    "a\nx\n\x1E"
                                    "a\ny",
                                    "it"),
                    "it: two documents are called \"a\"");
  CHECK_THROWS_WITH(parse_documents("\x1E"
                                    "a\x1E"
                                    "b\n",
                                    "it"),
                    ContainsSubstring("is not a line of its own"));
  CHECK_THROWS_WITH(parse_documents("\x1E\nx", "it"), ContainsSubstring("are called \"\""));
}

TEST_CASE("documents: a record whose documents do not fill the text is refused, an old record is built again",
          "[tasks][documents]") {
  test::TempFolder const cache;
  add_corpus(three, cache.path());
  auto json = nlohmann::json::parse(read_file(cache / "three.json"));
  auto const with = [&](nlohmann::json const& documents) {
    json["documents"] = documents;
    write_file_atomically(cache / "three.json", json.dump());
    return corpus_record("three", cache.path());
  };
  CHECK_THROWS_WITH(with({{0, 7, "b"}, {8, 11, "a"}}),
                    ContainsSubstring("from 8, expected some from 7") && ContainsSubstring("sextant corpus add three"));
  CHECK_THROWS_WITH(with({{0, 7, "b"}}), ContainsSubstring("the documents have 7 bytes, and the text 19"));
  json.erase("documents");
  write_file_atomically(cache / "three.json", json.dump());
  CHECK(!corpus_record("three", cache.path()));
}

TEST_CASE("documents: the files of a folder are documents by their paths", "[tasks][documents]") {
  test::TempFolder const folder;
  std::filesystem::create_directories(folder / "sub");
  write_file_atomically(folder / "b.txt", "bb");
  write_file_atomically(folder / "sub/a.md", "aaa");
  write_file_atomically(folder / "empty.txt", "");
  write_file_atomically(folder / "picture.png", "no text");
  Corpus const corpus = load_corpus(folder.path().string(), folder.path());
  CHECK(corpus.documents == Documents{{"b.txt", 0, 2}, {"sub/a.md", 2, 3}});
  CHECK(std::string(corpus.bytes.begin(), corpus.bytes.end()) == "bbaaa");
  CHECK(corpus.name == folder.path().filename());
  test::TempFolder const bare;
  CHECK_THROWS_WITH(load_corpus(bare.path().string(), folder.path()), ContainsSubstring("without .txt or .md files"));
}

TEST_CASE("split by documents: every document is in one part, whole, and the shares are met", "[tasks][split]") {
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 100; ++i) lengths.push_back(10 + i % 7);
  Corpus const corpus = corpus_of(lengths);
  Split const part = split(bytes_as_tokens(corpus), 0.9, 0.1, Cut::documents);
  auto const train = histogram(part.train), test = histogram(part.test);
  for (auto const* half : {&train, &test})
    for (auto const& [document, bytes] : *half) CHECK(bytes == lengths[document]);
  for (auto const& [document, bytes] : test) CHECK(!train.contains(document));
  CHECK(train.size() + test.size() == 100);
  double const total = static_cast<double>(corpus.bytes.size());
  CHECK(static_cast<double>(part.test.size()) >= 0.1 * total);      // reached,
  CHECK(static_cast<double>(part.test.size()) < 0.1 * total + 17);  // with the last document that it took
  CHECK(std::is_sorted(part.test.begin(), part.test.end()));        // in the order of the text
  // The first of the draw by coreutils: for i in $(seq 0 99); do echo $(printf d$i | sha256sum) d$i; done | sort
  for (int const first : {0, 72, 55}) CHECK(test.contains(first));
}

TEST_CASE("split by documents: a document's part does not change when others come and go", "[tasks][split]") {
  std::vector<std::int64_t> lengths(60, 10);
  Corpus all = corpus_of(lengths), fewer = all;
  fewer.documents.clear();
  for (std::size_t i = 0; i < 60; i += 2) fewer.documents.push_back(all.documents[i]);
  auto const names = [](Documents const& list) {
    std::set<std::string> set;
    for (auto const& d : list) set.insert(d.name);
    return set;
  };
  // With a share of a half, those that test among all and are still there come before those that train.
  auto const large = divide(all.documents, 0.5, 0.5), small = divide(fewer.documents, 0.25, 0.25);
  for (auto const& name : names(small.test)) CHECK(!names(divide(fewer.documents, 0.5, 0.5).train).contains(name));
  int same = 0;
  for (auto const& name : names(divide(fewer.documents, 0.5, 0.5).test)) same += names(large.test).contains(name);
  CHECK(same >= 10);  // of 15, where a draw that starts anew would leave about 7
}

TEST_CASE("split by documents: a gap stays, one document cannot be held out, two can", "[tasks][split]") {
  Corpus const corpus = corpus_of(std::vector<std::int64_t>(20, 5));
  Split const gap = split(bytes_as_tokens(corpus), 0.5, 0.1, Cut::documents);
  CHECK(gap.train.size() == 50);
  CHECK(gap.test.size() == 10);
  CHECK_THROWS_WITH(split(bytes_as_tokens(corpus_of({9})), 0.9, 0.1, Cut::documents),
                    ContainsSubstring("cannot be held out of 1 document, expected a corpus of two or more"));
  Split const two = split(bytes_as_tokens(corpus_of({1, 1000})), 0.94, 0.06, Cut::documents);
  CHECK(two.train.size() + two.test.size() == 1001);
  CHECK(!two.train.empty());
  CHECK(!two.test.empty());
}

TEST_CASE("documents in tokens: whole, long enough, in order, and a bound on their number", "[tasks][tokens]") {
  std::string const line = "In the beginning God created the heaven and the earth.";
  Corpus corpus{"made up", {}, "sha", "", "", {}};
  for (int n : {1, 5, 2, 9}) {
    corpus.documents.push_back({text("times ", n), static_cast<std::int64_t>(corpus.bytes.size()),
                                static_cast<std::int64_t>(n * line.size())});
    for (int i = 0; i < n; ++i) corpus.bytes.insert(corpus.bytes.end(), line.begin(), line.end());
  }
  tokens::Tokenizer const tokenizer(test::tiny_named("gpt-2"));
  auto const once = static_cast<std::int64_t>(tokenizer.encode(line).ids.size());
  auto const found = documents(corpus, tokenizer, 4 * once);
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "times 5");
  CHECK(found[1].name == "times 9");
  CHECK(tokenizer.decode(found[1].ids).size() == 9 * line.size());
  CHECK(found[1].bytes == static_cast<std::int64_t>(9 * line.size()));
  CHECK(documents(corpus, tokenizer, 1, 3).size() == 3);
  CHECK_THROWS_WITH(documents(corpus, tokenizer, 300), ContainsSubstring("has no document of 300 tokens: the longest"));
}

TEST_CASE("token ids: files of each type are read as NumPy wrote them", "[tasks][tokens]") {
  test::TempFolder const folder;
  auto const ids = [&](std::string const& name, std::string const& content) {
    write_file_atomically(folder / name, content);
    return read_token_ids(folder / name, 60000).ids;
  };
  std::vector<std::int32_t> const expected{1, 258, 51966};
  CHECK(ids("a.bin", "\x01\x00\x02\x01\xFE\xCA"s) == expected);
  CHECK(ids("a.npy", npy("<u2", "3,", "\x01\x00\x02\x01\xFE\xCA"s)) == expected);
  CHECK(ids("b.npy", npy("<i4", "3,", "\x01\0\0\0\x02\x01\0\0\xFE\xCA\0\0"s)) == expected);
  CHECK(ids("c.npy", npy("<u4", "3", "\x01\0\0\0\x02\x01\0\0\xFE\xCA\0\0"s)) == expected);
  CHECK(ids("d.npy", npy("<i8", "3,", "\x01\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0\xFE\xCA\0\0\0\0\0\0"s)) == expected);
  // Written by numpy 2.4.6: numpy.save(file, numpy.arange(4, dtype="int32"))
  CHECK(read_token_ids(std::string(std::getenv("SEXTANT_TEST_DATA")) + "/tokens/arange4.npy", 4).ids ==
        std::vector<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("token ids: what is not what it says is refused with the place", "[tasks][tokens]") {
  test::TempFolder const folder;
  auto const refused = [&](std::string const& name, std::string const& content, std::string const& message) {
    write_file_atomically(folder / name, content);
    CHECK_THROWS_WITH(read_token_ids(folder / name, 1000), ContainsSubstring(message));
  };
  refused("a.bin", "\x01\x00\x02"s, "has 3 bytes, expected an even number");
  refused("a.bin", "", "holds no token ids");
  refused("a.bin", "\x01\x00\xE8\x03"s, "token 1 is 1000, expected 0 to 999");
  refused("a.npy", npy("<i4", "1,", "\xFF\xFF\xFF\xFF"), "token 0 is -1, expected 0 to 999");
  refused("a.npy", npy("<i8", "1,", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "token 0 is -1, expected 0 to 999");
  refused("a.npy", npy("<f4", "1,", "\0\0\0\0"s), "numbers of type <f4, expected <u2, <i4, <u4 or <i8");
  refused("a.npy", npy(">i4", "1,", "\0\0\0\0"s), "numbers of type >i4");
  refused("a.npy", npy("<u2", "1, 1", "\0\0"s), "has the shape (1, 1), expected one dimension");
  refused("a.npy", npy("<u2", "3,", "\0\0"s), "has 2 bytes of numbers, expected 3 of 2 bytes each");
  refused("a.npy", npy("<u2", "1,", "\0\0\0"s), "has 3 bytes of numbers, expected 1 of 2 bytes each");
  refused("a.npy", npy("<u2", "1,", "").substr(0, 60), "has 60 bytes, and its header alone takes 128");
  refused("a.npy", "plain text, twelve", "does not begin as NumPy's files do");
  refused("a.txt", "text", "expected token ids in a .npy or .bin file");
  CHECK_THROWS_WITH(load_corpus((folder / "a.npy").string(), folder.path()),
                    ContainsSubstring("holds token ids by its name"));
}
