// The oracle is Hugging Face's library: tests/data/tokens/make_expected.py wrote down what it encodes the hard strings to.
#include <sextant/tokens/tokenizer_json.hpp>

#include <catch2/catch_all.hpp>
#include <random>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/base/json.hpp>
#include <tokens/data.hpp>

using namespace sextant;
using namespace sextant::tokens;
using namespace sextant::test;
using Catch::Matchers::ContainsSubstring;

namespace {

void check_all(Tokenizer const& tokenizer, nlohmann::json const& expected, EncodeOptions const& options) {
  auto const& strings = hard_strings();
  REQUIRE(expected.size() == strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    INFO("string " << i << ": " << strings[i].substr(0, 60));
    CHECK(tokenizer.encode(strings[i], options).ids == expected[i].get<std::vector<std::int32_t>>());
  }
}

std::string random_bytes(std::mt19937& draw, std::size_t size, bool text_like) {
  static std::string const alphabet = "  \n\tabcEST's0123.,<|>\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80\xFF\x80";
  std::string bytes;
  while (bytes.size() < size) bytes += text_like ? alphabet[draw() % alphabet.size()] : static_cast<char>(draw() & 255);
  return bytes;
}

}  // namespace

TEST_CASE("tokenizer.json: every pre-tokenizer gives Hugging Face's ids on all hard strings", "[tokens][oracle]") {
  for (auto const& [name, one] : expected_ids().at("tiny").items()) {
    INFO("pre-tokenizer " << name);
    Tokenizer const tokenizer(tiny_json([&one = one](auto& json) {
      json["pre_tokenizer"] = one["pre_tokenizer"];
      json["model"]["ignore_merges"] = one["ignore_merges"];
    }));
    check_all(tokenizer, one["text"], {});
    check_all(tokenizer, one["control"], {.control = true});
  }
}

TEST_CASE("GGUF names: every pre-tokenizer gives the ids of the tokenizer.json that it stands for",
          "[tokens][oracle]") {
  for (auto const& [name, one] : expected_ids().at("tiny").items()) {
    INFO("pre-tokenizer " << name);
    Tokenizer const tokenizer(tiny_named(name));
    check_all(tokenizer, one["text"], {});
    check_all(tokenizer, one["control"], {.control = true});
  }
}

TEST_CASE("tokenizer.json: a normaliser NFC composes before anything else", "[tokens][oracle]") {
  Tokenizer const tokenizer(tiny_json([](auto& json) { json["normalizer"] = {{"type", "NFC"}}; }));
  check_all(tokenizer, expected_ids().at("nfc"), {});
}

TEST_CASE("decode gives back any bytes that were encoded, text or not", "[tokens][roundtrip]") {
  std::mt19937 draw(7);
  for (auto const& [name, one] : expected_ids().at("tiny").items()) {
    INFO("pre-tokenizer " << name);
    Tokenizer const tokenizer(tiny_named(name));
    for (int trial = 0; trial < 60; ++trial) {
      std::string const bytes = random_bytes(draw, trial * 7, trial % 2);
      Encoded const encoded = tokenizer.encode(bytes);
      CHECK(tokenizer.decode(encoded.ids) == bytes);
      CHECK(encoded.dropped == 0);
    }
  }
}

TEST_CASE("bytes that are no UTF-8 split like U+FFFD and stay themselves, or become U+FFFD when asked",
          "[tokens][stray]") {
  Tokenizer const tokenizer(tiny_named("gpt-2"));
  std::string const broken =
                        "ab\xFF\xFE"
                        "cd \xC3",
                    mended = "ab\uFFFD\uFFFDcd \uFFFD";
  CHECK(tokenizer.decode(tokenizer.encode(broken).ids) == broken);
  CHECK(tokenizer.encode(broken, {.stray = Stray::replace}).ids == tokenizer.encode(mended).ids);
  // The letters beside them are pieces of their own, as they are beside U+FFFD.
  auto const ids = tokenizer.encode(broken).ids;
  CHECK(tokenizer.token_bytes(ids.front()) == "ab");
  // Overlong forms and surrogates are no UTF-8: one U+FFFD a byte.
  CHECK(tokenizer.encode("\xC0\xAF\xED\xA0\x80", {.stray = Stray::replace}).ids ==
        tokenizer.encode("\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD").ids);
}

TEST_CASE("bytes without a token are dropped and counted, or become the unknown token", "[tokens][stray]") {
  Vocabulary poor;
  poor.where = "poor";
  poor.model = "gpt2";
  poor.pre = "gpt-2";
  poor.tokens = {"a", "b", "ab", "?"};
  poor.merges = {"a b"};
  Encoded const dropped = Tokenizer(poor).encode("ab!!ab");
  CHECK(dropped.ids == std::vector<std::int32_t>{2, 2});
  CHECK(dropped.dropped == 2);
  poor.unk_for_bytes = true;
  CHECK_THROWS_WITH(Tokenizer(poor), ContainsSubstring("poor: bytes without a token become the unknown token"));
  poor.unk = 3;
  CHECK(Tokenizer(poor).encode("ab!!ab").ids == std::vector<std::int32_t>{2, 3, 3, 2});
  poor.fuse_unk = true;
  CHECK(Tokenizer(poor).encode("ab!!ab").ids == std::vector<std::int32_t>{2, 3, 2});
}

TEST_CASE("bos and eos are added on request, by the file or by the kind of model", "[tokens][special]") {
  Vocabulary v = tiny_named("llama-bpe");
  v.eos = 2;
  auto const plain = Tokenizer(v).encode("hello").ids;
  auto with = plain;
  with.insert(with.begin(), 0);
  CHECK(Tokenizer(v).encode("hello", {.add = true}).ids == with);  // Llama 3 begins texts; the file need not say so
  v.add_eos = true;
  with.push_back(2);
  CHECK(Tokenizer(v).encode("hello", {.add = true}).ids == with);
  v.add_bos = v.add_eos = false;
  CHECK(Tokenizer(v).encode("hello", {.add = true}).ids == plain);
  v.add_bos = true;
  v.bos.reset();
  CHECK_THROWS_WITH(Tokenizer(v), ContainsSubstring("a bos token, and none is named"));
}

TEST_CASE("tokens know their bytes, and ids out of range are refused", "[tokens][special]") {
  Tokenizer const tokenizer(tiny_named("gpt-2"));
  CHECK(tokenizer.token_bytes(0) == "<|endoftext|>");
  auto const ids = tokenizer.encode(" the").ids;
  REQUIRE(ids.size() == 1);
  CHECK(tokenizer.token_bytes(ids[0]) == " the");
  CHECK_THROWS_WITH(tokenizer.token_bytes(tokenizer.size()), ContainsSubstring("expected 0 to"));
  CHECK_THROWS_AS(tokenizer.decode(std::vector<std::int32_t>{-1}), Error);
}

TEST_CASE("the fingerprint tells vocabularies apart that encode differently", "[tokens]") {
  Vocabulary const v = tiny_named("gpt-2");
  std::string const print = Tokenizer(v).fingerprint();
  CHECK(Tokenizer(tiny_named("gpt-2")).fingerprint() == print);
  CHECK(Tokenizer(tiny_named("qwen2")).fingerprint() != print);
  Vocabulary fewer = v;
  fewer.merges.pop_back();
  CHECK(Tokenizer(fewer).fingerprint() != print);
}

TEST_CASE("a vocabulary that contradicts itself is refused with the place and what was expected", "[tokens][refuse]") {
  auto const refused = [](auto const& change, std::string const& message) {
    Vocabulary v = tiny_named("gpt-2");
    change(v);
    CHECK_THROWS_WITH(Tokenizer(v), ContainsSubstring(message));
  };
  refused([](auto& v) { v.model = "t5"; }, "tokenizer model is t5, expected gpt2");
  refused([](auto& v) { v.pre = "smolm"; }, "pre-tokenizer smolm is not known; did you mean smollm");
  refused([](auto& v) { v.pre = ""; }, "pre-tokenizer is not named (tokenizer.ggml.pre)");
  refused([](auto& v) { v.types.pop_back(); }, "token types for");
  refused([](auto& v) { v.types[5] = static_cast<TokenType>(9); }, "token 5 is of type 9, expected 1 to 6");
  refused([](auto& v) { v.merges[3] = "one"; }, "merge 3 is \"one\", expected two tokens");
  refused([](auto& v) { v.merges[3] = "a nowhere"; }, "\"nowhere\" is no token");
  refused([](auto& v) { v.merges.clear(); }, "no merges");
  refused([](auto& v) { v.pad = 100000; }, "the pad token is 100000, expected an id below");
  refused([](auto& v) { v.tokens.clear(); }, "has no tokens");
}

TEST_CASE("runs of thirty thousand characters of any class come back whole, and soon", "[tokens][long]") {
  int const n = 30000;
  for (auto const& [name, one] : expected_ids().at("tiny").items()) {
    Tokenizer const tokenizer(tiny_named(name));
    for (char const* const unit : {"a", "A", " ", "\n", "1", "!", "\u4E2D", "e\u0301", " \n", "'", "aB"}) {
      INFO("pre-tokenizer " << name << ", run of " << unit);
      std::string run;
      for (int i = 0; i < n; ++i) run += unit;
      run += "x";
      CHECK(tokenizer.decode(tokenizer.encode(run).ids) == run);
    }
  }
}
