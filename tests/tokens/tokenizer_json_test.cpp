#include <catch2/catch_all.hpp>
#include <sextant/base/error.hpp>
#include <sextant/tokens/pattern.hpp>
#include <tokens/data.hpp>

using namespace sextant;
using namespace sextant::tokens;
using namespace sextant::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using Ids = std::vector<std::int32_t>;

TEST_CASE("tokenizer.json: spaces first, numbers together, cuts at strings and scripts are Hugging Face's",
          "[tokens][oracle]") {
  auto const& strings = hard_strings();
  for (auto const& [name, one] : expected_ids().at("other").items()) {
    Tokenizer const tokenizer(tiny_json([&one = one](Json& json) { json["pre_tokenizer"] = one["pre_tokenizer"]; }));
    for (std::size_t i = 0; i < strings.size(); ++i) {
      INFO(name << ", string " << i << ": " << strings[i].substr(0, 60));
      CHECK(tokenizer.encode(strings[i]).ids == one["text"][i].get<Ids>());
      CHECK(tokenizer.encode(strings[i], {.control = true}).ids == one["control"][i].get<Ids>());
    }
  }
}

TEST_CASE("tokenizer.json: a template puts tokens before and after the text", "[tokens]") {
  Tokenizer const tokenizer(tiny_json([](Json& json) {
    json["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [
      {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
      {"type": "TemplateProcessing",
       "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                  {"SpecialToken": {"id": "<|im_end|>", "type_id": 0}}],
       "pair": [],
       "special_tokens": {"<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]},
                          "<|im_end|>": {"id": "<|im_end|>", "ids": [2], "tokens": ["<|im_end|>"]}}}]})");
  }));
  Ids expected = tokenizer.encode("hello").ids;
  expected.insert(expected.begin(), 1);
  expected.push_back(2);
  CHECK(tokenizer.encode("hello", {.add = true}).ids == expected);
}

TEST_CASE("tokenizer.json: what Sextant does not read is refused with its place and what is read", "[tokens][refuse]") {
  auto const refused = [](std::string const& pointer, Json const& value, std::string const& message) {
    INFO(pointer << " = " << value);
    CHECK_THROWS_WITH(tiny_json([&](Json& json) { json[Json::json_pointer(pointer)] = value; }),
                      ContainsSubstring("tiny.json: tokenizer" + message));
  };
  refused("/model/type", "Unigram", ".model.type is \"Unigram\", expected BPE");
  refused("/model/dropout", 0.1, ".model.dropout is 0.1, expected no dropout");
  refused("/model/byte_fallback", true, ".model.byte_fallback is true, expected false");
  refused("/model/end_of_word_suffix", "</w>", ".model.end_of_word_suffix is \"</w>\", expected none");
  refused("/model/unk_token", "<nowhere>", ".model.unk_token is \"<nowhere>\", expected a token of the vocabulary");
  refused("/model/vocab", Json::object(), ".model.vocab is {}, expected tokens with their ids");
  refused("/model/vocab/a", -1, ".model.vocab.a is -1, expected a token id");
  refused("/model/vocab/a", 3, ".model.vocab: \"");
  refused("/model/merges/0", Json::array({"a"}), ".model.merges[0] is [\"a\"], expected two tokens");
  refused("/normalizer", {{"type", "NFKC"}}, ".normalizer.type is \"NFKC\", expected NFC");
  refused("/pre_tokenizer", nullptr, ".pre_tokenizer");
  refused("/pre_tokenizer", {{"type", "Metaspace"}}, ".pre_tokenizer.type is \"Metaspace\", expected ByteLevel, Split");
  refused("/pre_tokenizer/pretokenizers/0/behavior", "Removed",
          ".pre_tokenizer.pretokenizers[0].behavior is \"Removed\"");
  refused("/pre_tokenizer/pretokenizers/1/add_prefix_space", true,
          ".pre_tokenizer.pretokenizers[1].add_prefix_space is true, expected false");
  refused("/added_tokens/0/single_word", true, ".added_tokens[0].single_word is true, expected false");
  refused("/post_processor", {{"type", "BertProcessing"}}, ".post_processor.type is \"BertProcessing\"");
  refused("/decoder", {{"type", "Metaspace"}}, ".decoder is {\"type\":\"Metaspace\"}, expected ByteLevel");
  CHECK_THROWS_WITH(parse_tokenizer_json("{", "x.json"), ContainsSubstring("x.json is no tokenizer.json"));
  CHECK_THROWS_WITH(parse_tokenizer_json("{}", "x.json"), ContainsSubstring("it has no \"model\""));
}

TEST_CASE("patterns: matches and gaps alternate, an empty match cuts, look-ahead ends with the piece",
          "[tokens][pattern]") {
  using Pieces = std::vector<std::string_view>;
  CHECK(Pattern("[0-9]+").cut({"ab12cd", "3"}) == Pieces{"ab", "12", "cd", "3"});
  CHECK(Pattern("(?=b)").cut({"abab"}) == Pieces{"a", "ba", "b"});
  CHECK(Pattern(R"(\s+(?!\S))").cut({"a   b", "c  "}) == Pieces{"a", "  ", " b", "c", "  "});
  CHECK(Pattern("x").cut({"", "abc"}) == Pieces{"abc"});
}

TEST_CASE("patterns: white space is the property White_Space, scripts are without extensions", "[tokens][pattern]") {
  // Unicode's PropList.txt, White_Space; U+180E left it in version 6.3, U+200B never was in it.
  std::string const space = "\t\n\v\f\r \u0085\u00A0\u1680\u2000\u2005\u200A\u2028\u2029\u202F\u205F\u3000";
  CHECK(Pattern(R"(\s+)").cut({"a" + space + "b"}).size() == 3);
  CHECK(Pattern(R"([^x\s]+)").cut({space}).size() == 1);
  for (char const* const other : {"\u180E", "\u200B", "\x1C", "\uFEFF"})
    CHECK(Pattern(R"(\S)").cut({other}) == Pattern("x").cut({other}));
  // U+3001 is used with Han, and its script is Common.
  CHECK(Pattern(R"(\p{Han}+)").cut({"\u4E2D\u3001\u6587"}).size() == 3);
}

TEST_CASE("patterns: what PCRE2 would read otherwise than Oniguruma is refused by name", "[tokens][pattern][refuse]") {
  for (auto const& [pattern, what] :
       std::vector<std::pair<std::string, std::string>>{{R"(\w+)", "\\w"},
                                                        {R"(a\b)", "\\b"},
                                                        {R"(\h)", "\\h"},
                                                        {R"([a-z&&[^x]])", "intersection"},
                                                        {R"([a[b]])", "a class inside a class"},
                                                        {R"(a{1,3}+)", "a possessive bound"},
                                                        {R"((?m)a)", "(?m)"},
                                                        {R"((*FAIL))", "(*"},
                                                        {R"(\pL)", "a property without braces"},
                                                        {R"([\S])", "\\S inside a class"},
                                                        {R"([abc)", "a bracket that does not close"},
                                                        {R"(a\)", "at the end"}}) {
    INFO(pattern);
    CHECK_THROWS_WITH(Pattern(pattern), ContainsSubstring("pattern " + pattern) && ContainsSubstring(what));
  }
  CHECK_THROWS_WITH(Pattern(R"(\p{Klingon})"), ContainsSubstring("unknown property"));
  CHECK_THROWS_WITH(Pattern("(a"), ContainsSubstring("missing closing parenthesis"));
}
