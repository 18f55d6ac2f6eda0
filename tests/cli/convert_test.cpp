#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>

#include "support/data_file.hpp"
#include "support/holds.hpp"
#include "support/process.hpp"

using namespace sextant;
using nlohmann::json;
using test::holds;
using test::sextant_program;

namespace {
std::string config(std::string const& name) { return test::data_file("configs/" + name + ".json"); }
}  // namespace

TEST_CASE("convert: writes the other dialect, and says what it assumed and what is lost", "[cli][convert]") {
  auto const out = sextant_program({"convert", "--from", "hf", config("smollm2-135m"), "--to", "llamacpp"});
  CHECK(out.status == 0);
  CHECK(out.output.starts_with("--rope-scaling none --rope-freq-base 100000\n"));
  CHECK(holds(out.output, "lost: trained_length 8192: the model file says it\n"));
}

TEST_CASE("convert: explain shows both sides, with equal numbers", "[cli][convert]") {
  std::vector<std::string> const asked = {"convert", "--from", "hf",       config("qwen2.5-7b-yarn"),
                                          "--to",    "gguf",   "--explain"};
  auto const out = sextant_program(asked);
  INFO(out.output);
  CHECK(out.status == 0);
  CHECK(holds(out.output, "cos and sin times 1.138629 | 1.138629"));
  CHECK(holds(out.output, "tokens/turn"));
  auto with_json = asked;
  with_json.push_back("--json");
  auto const found = sextant_program(with_json).output;
  json const page = json::parse(found);
  CHECK(page["lost"].is_array());
  CHECK(page["largest_difference"] < 1e-9);
  CHECK(page["sides"][0]["read"]["inv_freq"] == page["sides"][0]["written"]["inv_freq"]);
  CHECK(page["sides"][0]["read"]["inv_freq"].size() == 64);
}

TEST_CASE("convert: what is wrong ends with status 2 and a message", "[cli][convert][reject]") {
  std::pair<std::vector<std::string>, std::string> const cases[] = {
      {{"--from", "hf", config("gpt-oss-20b"), "--to", "llamacpp"}, "truncate is false"},
      {{"--from", "hff", config("gpt-oss-20b"), "--to", "llamacpp"}, "did you mean hf"},
      {{"--from", "hf", "/nowhere/config.json", "--to", "vllm"}, "/nowhere/config.json"},
      {{"--from", "gguf", config("gpt-oss-20b"), "--to", "vllm"}, "has neither general.architecture"},
  };
  for (auto [arguments, words] : cases) {
    arguments.insert(arguments.begin(), "convert");
    auto const out = sextant_program(arguments);
    INFO(out.output);
    CHECK(out.status == 2);
    CHECK(holds(out.output, words));
  }
}
