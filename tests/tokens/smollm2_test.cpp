// SmolLM2's own vocabulary, from its GGUF file. The ids are Hugging Face's and llama.cpp's, which agree on all hard strings.
#include <catch2/catch_all.hpp>
#include <sextant/base/error.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/tasks/corpus.hpp>
#include <tokens/data.hpp>

using namespace sextant;

TEST_CASE("SmolLM2: the ids are Hugging Face's and llama.cpp's on all hard strings", "[tokens][smollm2][oracle]") {
  fs::path file;
  try {
    file = pretrained::find_model("smollm2", tasks::default_cache());
  } catch (Error const& absent) {
    SKIP(absent.what());
  }
  tokens::Tokenizer const tokenizer(pretrained::vocabulary_of(file));
  auto const& strings = test::hard_strings();
  auto const& expected = test::expected_ids().at("smollm2");
  REQUIRE(expected["text"].size() == strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i) {
    INFO("string " << i << ": " << strings[i].substr(0, 60));
    CHECK(tokenizer.encode(strings[i]).ids == expected["text"][i].get<std::vector<std::int32_t>>());
    CHECK(tokenizer.encode(strings[i], {.control = true}).ids ==
          expected["control"][i].get<std::vector<std::int32_t>>());
  }
  // It has no token for these bytes, and both libraries drop them.
  CHECK(tokenizer.encode(std::string{'a', 4, 'b'}).dropped == 1);
}
