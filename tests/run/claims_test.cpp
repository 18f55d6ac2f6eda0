// From a spec with claims to verdicts in the study file, through the program.
#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>
#include <sextant/results/file.hpp>

#include "support/data_file.hpp"
#include "support/holds.hpp"
#include "tiny_study.hpp"

using namespace sextant;
using test::holds;

namespace {
// A length that is measured, and one that only the article tier has.
fs::path write_claimed_study(test::TempFolder const& folder, std::string const& claims) {
  fs::path const spec = test::write_tiny_study(folder, 20);
  write_file_atomically(
      spec,
      read_file(spec) + "tiers: {article: {evaluate.lm_loss.lengths: [16, 32, 64]}}\nclaims:\n  list:\n" + claims);
  return spec;
}
std::string const learned = "    - {id: learned, test: 'lm_loss.mean @ 16 {encoding=fox} < 5'}\n";
std::string const far = "    - {id: far, test: 'lm_loss.mean @ 64 {encoding=fox} < 5'}\n";
std::string const absurd = "    - {id: absurd, test: 'lm_loss.mean @ 16 {encoding=fox} > 5', by: paired_t}\n";
}  // namespace

TEST_CASE(
    "run: claims get their verdicts in the study file, check computes the same, and strict says so with its status",
    "[run][claims]") {
  test::TempFolder const folder;
  std::string const spec = write_claimed_study(folder, learned + far + absurd).string(),
                    out = (folder / "out").string();
  auto const run = test::sextant_program({"run", spec, "-o", out});
  INFO(run.output);
  REQUIRE(run.status == 0);
  CHECK(holds(run.output, "of 3, 1 holds, 1 fails, 1 is out of reach"));
  auto const claims = results::read_group(fs::path(out) / "study.h5", "summary/claims");
  CHECK(claims.texts("verdict") == std::vector<std::string>{"holds", "out of reach", "fails"});
  CHECK(claims.integers("n") == std::vector<std::int64_t>{2, 0, 2});
  CHECK(claims.integers("windows") == std::vector<std::int64_t>{4, 0, 0});
  CHECK(holds(claims.texts("reason")[1], "this tier cannot test it: lm_loss is not measured at 64 tokens"));

  auto const check = test::sextant_program({"check", out, "--json"});
  REQUIRE(check.status == 0);
  auto const json = nlohmann::json::parse(check.output)["claims"];
  for (std::size_t i : {0, 2}) {
    CHECK(json[i]["p_adjusted"] == claims.numbers("p_adjusted")[i]);
    CHECK(json[i]["low"] == claims.numbers("low")[i]);
    CHECK(json[i]["verdict"] == claims.texts("verdict")[i]);
  }
  CHECK(test::sextant_program({"check", out, "--strict"}).status == 4);
  auto const page = read_file(fs::path(out) / "report.html");
  CHECK(holds(page, "id=\"claim-absurd\""));
  auto const cited = test::sextant_program({"cite", out});
  CHECK(holds(cited.output, "% fox\n@misc{lin2025forgetting"));
  CHECK(holds(cited.output, "press2021train"));
  auto const plan = test::sextant_program({"plan", spec, "-o", out, "--from", out, "--json"});
  INFO(plan.output);
  REQUIRE(plan.status == 0);
  auto const seeds = nlohmann::json::parse(plan.output)["seeds"];
  CHECK(seeds[0]["seeds"] == 2);
  CHECK(seeds[1]["seeds"].is_null());
  CHECK(holds(seeds[2]["reason"], "nothing beyond the margin"));
}

TEST_CASE("run: a claim that is added to a finished study is judged without measuring anything anew", "[run][claims]") {
  test::TempFolder const folder;
  std::string const out = (folder / "out").string();
  std::string spec = write_claimed_study(folder, learned).string();
  REQUIRE(test::sextant_program({"run", spec, "-o", out}).status == 0);
  CHECK(test::sextant_program({"check", out, "--strict"}).status == 0);
  spec = write_claimed_study(folder, learned + absurd).string();
  auto const again = test::sextant_program({"run", spec, "-o", out});
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK(holds(again.output, "0 of 12 stages done now, 12 found done"));
  CHECK(holds(again.output, "of 2, 1 holds, 1 fails"));
  CHECK(test::sextant_program({"check", out, "--strict"}).status == 4);
}

TEST_CASE("run: a study that claims nothing has nothing to check", "[run][claims]") {
  test::TempFolder const folder;
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", test::write_tiny_study(folder, 5).string(), "-o", out}).status == 0);
  auto const check = test::sextant_program({"check", out});
  CHECK(check.status == 2);
  CHECK(holds(check.output, "makes no claims"));
}

TEST_CASE("run: a model that is given and not trained is judged over windows; trained under one seed it is not",
          "[run][claims]") {
  test::TempFolder const folder;
  std::string const model = test::data_file("pretrained/tiny_llama.gguf");
  std::string words;
  Stream const stream(1, "words");
  for (std::uint64_t i = 0; i < 6000; ++i) words += stream.below(2, i) ? "wind " : "stone ";
  write_file_atomically(folder / "words.txt", words);
  auto const verdicts = [&](std::string const& steps) {
    fs::path const spec = folder / ("steps" + steps + ".yaml");
    write_file_atomically(spec, "sextant: 1\nstudy: given\nmodel: {from: " + model +
                                    "}\ndata: {corpus: " + (folder / "words.txt").string() + ", tokens: " + model +
                                    ", split: {train: 0.5, test: 0.5}}\ntrain: {steps: " + steps +
                                    ", length: 16, batch: 32 tokens, optimiser: {rate: 1e-4}, seeds: [0]}\n"
                                    "evaluate: [{use: lm_loss, lengths: [32, 64], windows: 8}]\n"
                                    "claims:\n  list:\n"
                                    "    - {id: sane, test: 'lm_loss.mean @ 64 < 100'}\n"
                                    "    - {id: plain, test: 'lm_loss.mean @ 64 < 100', by: paired_t}\n");
    std::string const out = (folder / ("out" + steps)).string();
    auto const run = test::sextant_program({"run", spec.string(), "-o", out});
    INFO(run.output);
    REQUIRE(run.status == 0);
    CHECK(holds(run.output, "n: windows of one text.") == (steps == "0"));
    auto const check = test::sextant_program({"check", out});
    CHECK(holds(check.output, "n: windows of one text.") == (steps == "0"));
    return results::read_group(fs::path(out) / "study.h5", "summary/claims");
  };
  auto const given = verdicts("0");
  CHECK(given.texts("verdict") == std::vector<std::string>{"holds", "holds"});
  CHECK(given.integers("n") == std::vector<std::int64_t>{0, 0});
  CHECK(given.integers("windows") == std::vector<std::int64_t>{8, 8});
  auto const trained = verdicts("1");
  CHECK(trained.texts("verdict") == std::vector<std::string>{"out of reach", "out of reach"});
  CHECK(holds(trained.texts("reason")[0], "one seed (0) has no spread"));
}
