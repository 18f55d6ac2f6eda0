// The oracle is the sentencepiece library: tests/data/tokens/make_sentence_piece.py.
#include <catch2/catch_all.hpp>
#include <random>
#include <sextant/base/error.hpp>
#include <tokens/data.hpp>

using namespace sextant;
using namespace sextant::tokens;
using namespace sextant::test;
using Catch::Matchers::ContainsSubstring;

namespace {

nlohmann::json const& made() {
  static auto const json = tokens_data("sentence_piece.json");
  return json;
}

Vocabulary small_vocabulary() {
  Vocabulary v;
  v.where = "sentence_piece.json";
  v.model = "llama";
  v.tokens = made()["tokens"];
  v.scores = made()["scores"].get<std::vector<float>>();
  for (int const type : made()["types"]) v.types.push_back(static_cast<TokenType>(type));
  v.bos = made()["bos"];
  v.eos = made()["eos"];
  v.unk = made()["unk"];
  return v;
}

}  // namespace

TEST_CASE("SentencePiece: the ids are those of the sentencepiece library on all hard strings",
          "[tokens][sentencepiece][oracle]") {
  Tokenizer const tokenizer(small_vocabulary());
  auto const& strings = hard_strings();
  for (std::size_t i = 0; i < strings.size(); ++i) {
    INFO("string " << i << ": " << strings[i].substr(0, 60));
    CHECK(tokenizer.encode(strings[i]).ids == made()["ids"][i].get<std::vector<std::int32_t>>());
  }
}

TEST_CASE("SentencePiece: decode gives back any bytes, without the space that was put before them",
          "[tokens][sentencepiece][roundtrip]") {
  Tokenizer const with(small_vocabulary());
  Vocabulary bare = small_vocabulary();
  bare.add_space_prefix = false;
  Tokenizer const without(bare);
  std::mt19937 draw(11);
  for (int trial = 0; trial < 100; ++trial) {
    std::string bytes;
    for (int i = 0; i < trial * 5; ++i) bytes += static_cast<char>(trial % 2 ? draw() & 255 : "  abc\n"[draw() % 6]);
    CHECK(with.decode(with.encode(bytes).ids) == bytes);
    CHECK(without.decode(without.encode(bytes).ids) == bytes);
  }
  CHECK(with.encode("the").ids != without.encode("the").ids);
}

TEST_CASE("SentencePiece: texts begin with bos unless the file says otherwise, special tokens split the text",
          "[tokens][sentencepiece]") {
  Tokenizer const tokenizer(small_vocabulary());
  auto const ids = tokenizer.encode("the", {.add = true}).ids;
  CHECK(ids.front() == 1);
  auto const special = tokenizer.encode("the</s>the", {.control = true}).ids;
  auto expected = tokenizer.encode("the").ids;
  auto const once = expected;
  expected.push_back(2);
  expected.insert(expected.end(), once.begin(), once.end());  // the second text has its space too, as in llama.cpp
  CHECK(special == expected);
  CHECK(tokenizer.decode(special) == "the</s>the");
}

TEST_CASE("SentencePiece: scores and byte tokens that do not fit are refused", "[tokens][sentencepiece][refuse]") {
  Vocabulary v = small_vocabulary();
  v.scores.pop_back();
  CHECK_THROWS_WITH(Tokenizer(v), ContainsSubstring("699 scores (tokenizer.ggml.scores) for 700 tokens"));
  v = small_vocabulary();
  v.tokens[3] = "<0xZZ>";
  CHECK_THROWS_WITH(Tokenizer(v), ContainsSubstring("token 3 is of type byte and written \"<0xZZ>\""));
}
