#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>
#include <support/data_file.hpp>
#include <support/process.hpp>
#include <support/temp_folder.hpp>

using namespace sextant;
using nlohmann::json;
using test::sextant_program;

namespace {
std::string tiny() { return test::data_file("tokens/tiny.json"); }
}  // namespace

TEST_CASE("cli: tokenize prints ids and pieces that Hugging Face's library agrees with", "[cli][tokenize]") {
  test::TempFolder const folder;
  auto const data = [](std::string const& name) { return json::parse(read_file(test::data_file("tokens/" + name))); };
  auto const strings = data("hard_strings.json"), expected = data("expected.json")["tiny"]["llama-bpe"];
  int tried = 0;
  for (std::size_t i = 0; i < strings.size(); i += 25, ++tried) {
    write_file_atomically(folder / "text", strings[i].get<std::string>());
    for (bool const control : {false, true}) {
      std::vector<std::string> command{"tokenize", tiny(), "--text", (folder / "text").string(), "--json"};
      if (control) command.push_back("--control");
      auto const ran = sextant_program(command);
      INFO(ran.output);
      REQUIRE(ran.status == 0);
      // tiny.json itself does not ignore merges; no hard string of these tells the difference
      CHECK(json::parse(ran.output)["ids"] == expected[control ? "control" : "text"][i]);
    }
  }
  CHECK(tried > 5);
}

TEST_CASE("cli: tokenize shows bytes that are no character, and names what is no tokenizer", "[cli][tokenize]") {
  test::TempFolder const folder;
  write_file_atomically(folder / "text", "a\xFF\n");
  auto const ran = sextant_program({"tokenize", tiny(), "--text", (folder / "text").string()});
  REQUIRE(ran.status == 0);
  CHECK(ran.output.find(" a\n") != std::string::npos);
  CHECK(ran.output.find(" \\xFF\n") != std::string::npos);
  CHECK(ran.output.find(" \\n\n") != std::string::npos);
  auto const wrong = sextant_program({"tokenize", (folder / "text").string()});
  CHECK(wrong.status == 2);
  CHECK(wrong.output.find("is no tokenizer.json") != std::string::npos);
}

TEST_CASE("cli: corpus show lists documents and says which are held out", "[cli][corpus]") {
  test::TempFolder const folder;
  for (int i = 0; i < 10; ++i) write_file_atomically(folder / text(i, ".txt"), std::string(100, 'x'));
  auto const ran = sextant_program({"corpus", "show", folder.path().string(), "--test", "0.2", "--json"});
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  auto const shown = json::parse(ran.output);
  CHECK(shown["bytes"] == 1000);
  REQUIRE(shown["documents"].size() == 10);
  int held_out = 0;
  for (auto const& document : shown["documents"]) held_out += document["held_out"].get<bool>();
  CHECK(held_out == 2);
  CHECK(shown["documents"][3] ==
        json{{"name", "3.txt"}, {"offset", 300}, {"bytes", 100}, {"held_out", shown["documents"][3]["held_out"]}});
  auto const table = sextant_program({"corpus", "show", folder.path().string()});
  CHECK(table.output.find("3.txt") != std::string::npos);
}
