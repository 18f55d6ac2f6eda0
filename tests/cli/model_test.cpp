#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>

#include "support/data_file.hpp"
#include "support/holds.hpp"
#include "support/process.hpp"

using namespace sextant;
using test::holds;
using test::sextant_program;

namespace {
std::string data(std::string const& name) { return test::data_file("pretrained/" + name); }
}  // namespace

TEST_CASE("cli: model show says what a file holds, also as JSON, and of the checkpoint that import writes",
          "[cli][import]") {
  test::TempFolder const folder;
  std::string const checkpoint = (folder / "tiny.safetensors").string();
  auto const imported = sextant_program({"import", data("tiny_llama.gguf"), "-o", checkpoint});
  INFO(imported.output);
  REQUIRE(imported.status == 0);
  for (std::string const& file : {data("tiny_llama.gguf"), checkpoint}) {
    auto const shown = sextant_program({"model", "show", file, "--json"});
    INFO(shown.output);
    REQUIRE(shown.status == 0);
    auto const facts = nlohmann::json::parse(shown.output);
    CHECK(facts["family"] == "llama");
    CHECK(facts["layers"] == 2);
    CHECK(facts["parameters"] == 27168);
    CHECK(facts["context_length"] == 64);
    CHECK(holds(facts["encoding"], "rope"));
    CHECK(holds(facts["tokenizer"], "gpt2 gpt-2, 268 tokens, 10 merges"));
  }
  CHECK(holds(sextant_program({"model", "show", data("tiny_llama.gguf")}).output, "neighbours, moved to halves"));
  auto const verified = sextant_program({"verify", data("tiny_llama.json"), "--model", data("tiny_llama.gguf")});
  INFO(verified.output);
  CHECK(verified.status == 0);
  CHECK(holds(verified.output, "12 passed"));
}

TEST_CASE("cli: a model that cannot be read is refused with its name and status 2", "[cli][import]") {
  auto const wrong = sextant_program({"model", "show", data("tiny_llama.json")});
  CHECK(wrong.status == 2);
  CHECK(holds(wrong.output, "tiny_llama.json: byte 0: the file does not begin with GGUF"));
  auto const unknown = sextant_program({"model", "show", "smolm2"});
  CHECK(unknown.status == 2);
  CHECK(holds(unknown.output, "did you mean smollm2?"));
  CHECK(sextant_program({"model", "add", "smolm2"}).status == 2);
  auto const list = sextant_program({"model", "list", "--json"});
  REQUIRE(list.status == 0);
  CHECK(holds(list.output, "\"smollm2\""));
}
