#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <fstream>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/base/json.hpp>
#include <sextant/tasks/token_text.hpp>

using namespace sextant;
using namespace sextant::tasks;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {
struct Scratch {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("sextant-tasks-" + std::to_string(::getpid()));
  Scratch() { std::filesystem::create_directories(path); }
  ~Scratch() { std::filesystem::remove_all(path); }
};

std::string as_text(Corpus const& corpus) { return {corpus.bytes.begin(), corpus.bytes.end()}; }

CorpusRecipe const tiny{"tiny", "three lines", {"libc6"}, "public domain", "printf 'one\\ntwo\\nthree\\n'"};
}  // namespace

TEST_CASE("corpus: the King James text opens with Genesis, ends with Amen and has 31102 numbered verses",
          "[tasks][corpus]") {
  Scratch const cache;
  Corpus const kjv = load_corpus("kjv", cache.path);
  std::string const text = as_text(kjv);
  CHECK_THAT(text.substr(0, 80), ContainsSubstring("Genesis 1\n\n  1 In the beginning God created the heaven"));
  CHECK(text.ends_with("The grace of our Lord Jesus Christ be with you all. Amen.\n"));
  // 31102 verses: the count that every concordance gives for the King James version.
  int verses = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    verses += text.compare(at, 2, "  ") == 0 && text[at + 2] >= '1' && text[at + 2] <= '9';
  CHECK(verses == 31102);
  CHECK_THAT(kjv.source, ContainsSubstring("bible-kjv-text "));
  CHECK_THAT(kjv.licence, ContainsSubstring("public domain"));
}

TEST_CASE("corpus: the plain King James text has a verse a line and no digit", "[tasks][corpus]") {
  Scratch const cache;
  std::string const text = as_text(load_corpus("kjv-plain", cache.path));
  CHECK(text.starts_with("In the beginning God created the heaven and the earth.\nAnd the earth was without form"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 31102);
  CHECK(text.find_first_of("0123456789") == std::string::npos);
}

TEST_CASE("corpus: its record holds size, sha256, licence and source, and coreutils agrees on the sum",
          "[tasks][corpus]") {
  Scratch const cache;
  CorpusRecord const made = add_corpus(tiny, cache.path);
  CHECK(made.bytes == 14);
  // printf 'one\ntwo\nthree\n' | sha256sum
  CHECK(made.sha256 == "b6285c57e8797db5d4c51c80d6f11938afda9b11c6a003549709189e9b4b92a2");
  auto const json = nlohmann::json::parse(read_file(cache.path / "tiny.json"));
  CHECK(json.at("bytes") == 14);
  CHECK(json.at("licence") == "public domain");
  CHECK_THAT(json.at("source").get<std::string>(), ContainsSubstring("libc6 "));
  auto const read = corpus_record("tiny", cache.path);
  REQUIRE(read.has_value());
  CHECK(read->sha256 == made.sha256);
  CHECK(read_file(cache.path / read->file) == "one\ntwo\nthree\n");
}

TEST_CASE("corpus: a text changed on disk is refused, and building it again mends it", "[tasks][corpus]") {
  Scratch const cache;
  CorpusRecord const record = add_corpus("kjv-plain", cache.path);
  std::ofstream(cache.path / record.file, std::ios::app) << "one word more";
  CHECK_THROWS_MATCHES(load_corpus("kjv-plain", cache.path), Error,
                       MessageMatches(ContainsSubstring(record.file) && ContainsSubstring(record.sha256) &&
                                      ContainsSubstring("sextant corpus add kjv-plain")));
  CHECK(add_corpus("kjv-plain", cache.path).sha256 == record.sha256);
  CHECK(load_corpus("kjv-plain", cache.path).bytes.size() == static_cast<std::size_t>(record.bytes));
}

TEST_CASE("corpus: a missing package is named with the command that installs it", "[tasks][corpus]") {
  Scratch const cache;
  CorpusRecipe recipe = tiny;
  recipe.packages = {"libc6", "no-such-package-of-texts"};
  CHECK_THROWS_MATCHES(add_corpus(recipe, cache.path), Error,
                       MessageMatches(ContainsSubstring("apt-get install no-such-package-of-texts")));
  CHECK(!corpus_record("tiny", cache.path).has_value());
}

TEST_CASE("corpus: a command that fails leaves no corpus", "[tasks][corpus]") {
  Scratch const cache;
  CorpusRecipe recipe = tiny;
  recipe.command = "echo half; exit 3";
  CHECK_THROWS_MATCHES(add_corpus(recipe, cache.path), Error, MessageMatches(ContainsSubstring("status 3")));
  CHECK(!corpus_record("tiny", cache.path).has_value());
}

TEST_CASE("corpus: a path gives the user's own bytes, a wrong name a suggestion", "[tasks][corpus]") {
  Scratch const cache;
  auto const path = cache.path / "mine.txt";
  write_file_atomically(path, std::string("a\0b\xff", 4));
  Corpus const mine = load_corpus(path.string(), cache.path);
  CHECK(mine.bytes == std::vector<std::uint8_t>{'a', 0, 'b', 255});
  CHECK(mine.name == "mine.txt");
  CHECK_THROWS_MATCHES(load_corpus("kjw", cache.path), Error, MessageMatches(ContainsSubstring("did you mean kjv")));
}

TEST_CASE("corpus: the cache is SEXTANT_CACHE, else XDG's, else the home folder's", "[tasks][corpus]") {
  auto const with = [](char const* own, char const* xdg) {
    ::setenv("SEXTANT_CACHE", own, 1);
    ::setenv("XDG_CACHE_HOME", xdg, 1);
    ::setenv("HOME", "/home/ada", 1);
    return default_cache();
  };
  CHECK(with("/a", "/b") == "/a");
  CHECK(with("", "/b") == "/b/sextant");
  CHECK(with("", "") == "/home/ada/.cache/sextant");
}

TEST_CASE("split: train is the beginning, test the end, and they do not overlap", "[tasks][split]") {
  Corpus corpus{"letters", {}, "", "", "", {{"letters", 0, 50}}};
  for (int i = 0; i < 50; ++i) corpus.bytes.push_back(static_cast<std::uint8_t>(i));
  Split const whole = split(bytes_as_tokens(corpus), 0.94, 0.06);
  CHECK(whole.train.size() == 47);
  CHECK(whole.train.front() == 0);
  CHECK(whole.test.size() == 3);
  CHECK(whole.test.front() == 47);
  Split const gap = split(bytes_as_tokens(corpus), 0.5, 0.1);
  CHECK(gap.train.size() == 25);
  CHECK(gap.test.front() == 45);
  CHECK_THROWS_AS(split(bytes_as_tokens(corpus), 0.9, 0.2), Error);
  CHECK_THROWS_AS(split(bytes_as_tokens(corpus), 0.0, 0.2), Error);
}
