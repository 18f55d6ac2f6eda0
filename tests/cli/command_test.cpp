#include <catch2/catch_test_macros.hpp>
#include <sextant/base/file.hpp>
#include <sextant/base/json.hpp>

#include "support/holds.hpp"
#include "support/process.hpp"
#include "support/temp_folder.hpp"

using namespace sextant;
using test::holds;
using test::sextant_program;

namespace {
std::string quickstart() { return std::string(std::getenv("SEXTANT_SOURCE")) + "/experiments/quickstart"; }
}  // namespace

TEST_CASE("cli: list and describe know every plugin that the registry loaded", "[cli]") {
  auto const list = sextant_program({"list", "encodings", "--json"});
  REQUIRE(list.status == 0);
  auto const encodings = nlohmann::json::parse(list.output);
  CHECK(encodings.size() >= 11);
  for (auto const& encoding : encodings) {
    std::string const name = encoding["name"];
    auto const page = sextant_program({"describe", name});
    INFO(page.output);
    CHECK(page.status == 0);
    CHECK(holds(page.output, encoding["source"]));
    for (auto const& option : encoding["options"]) CHECK(holds(page.output, option["name"]));
  }
}

TEST_CASE("cli: a name that is nearly right is answered with the right one, and status 2", "[cli]") {
  auto const wrong = sextant_program({"describe", "rpoe"});
  CHECK(wrong.status == 2);
  CHECK(holds(wrong.output, "did you mean rope?"));
  CHECK(sextant_program({"no-such-command"}).status == 2);
  CHECK(holds(sextant_program({"comprae", "study.h5"}).output, "there is no command comprae; did you mean compare?"));
  CHECK(holds(sextant_program({"model", "lst"}).output, "there is no command lst; did you mean list?"));
  CHECK(holds(sextant_program({"model"}).output, "A subcommand is required"));
  CHECK(holds(sextant_program({"run"}).output, "spec is required"));
  CHECK(sextant_program({}).status == 2);
}

TEST_CASE("cli: a misspelt override is refused like a misspelt key, by validate, plan and run alike", "[cli][reject]") {
  for (std::string const command : {"validate", "plan", "run"}) {
    auto const wrong = sextant_program({command, quickstart(), "--set", "train.lerning_rate=1e-3"});
    INFO(wrong.output);
    CHECK(wrong.status == 2);
    CHECK(holds(wrong.output, "lerning_rate"));
  }
}

TEST_CASE("cli: every registered scaling can be chosen from the command line", "[cli]") {
  auto const scalings = nlohmann::json::parse(sextant_program({"list", "scalings", "--json"}).output);
  REQUIRE(scalings.size() >= 3);
  for (auto const& scaling : scalings) {
    std::string const name = scaling["name"], page = sextant_program({"describe", name}).output;
    auto const example = page.find("\nexample  ");
    std::string const chosen =
        example == std::string::npos ? name : page.substr(example + 10, page.find('\n', example + 1) - example - 10);
    bool const of_biases = holds(page, "(scaling, biases)");
    auto const found =
        sextant_program({"inspect", of_biases ? "alibi" : "rope", chosen, "--length", "512", "--trained", "128"});
    INFO(chosen << "\n" << found.output);
    CHECK(found.status == 0);
  }
}

TEST_CASE("cli: more threads than a backend has are refused", "[cli][threads]") {
  auto const env = sextant_program({"env", "--threads", "1", "--json"});
  REQUIRE(env.status == 0);
  CHECK(nlohmann::json::parse(env.output)["threads"] == 1);
  CHECK(sextant_program({"env", "--threads", "0"}).status == 2);
}

TEST_CASE("cli: help of every command ends with examples", "[cli]") {
  for (std::string const command :
       {"list",   "describe", "validate", "plan",     "run",     "rerun",  "status", "compare",   "check",  "report",
        "plot",   "export",   "gallery",  "cite",     "inspect", "advise", "doctor", "model",     "import", "extend",
        "search", "convert",  "corpus",   "tokenize", "env",     "verify", "plugin", "completion"}) {
    auto const help = sextant_program({command, "--help"});
    CHECK(help.status == 0);
    CHECK(holds(help.output, "Examples:\n  sextant " + command));
  }
}

TEST_CASE("cli: the completion script is bash", "[cli]") {
  auto const script = sextant_program({"completion", "bash"});
  REQUIRE(script.status == 0);
  test::TempFolder const folder;
  write_file_atomically(folder / "completion.bash", script.output);
  CHECK(std::system(("bash -n " + (folder / "completion.bash").string()).c_str()) == 0);
}

TEST_CASE(
    "cli: plugin new writes a project once, and refuses a name that is taken, a kind that is none and a full folder",
    "[cli][reject]") {
  test::TempFolder const folder;
  std::string const at = (folder / "mine").string();
  auto const made = sextant_program({"plugin", "new", "mine", "--kind", "rotary", "-o", at});
  INFO(made.output);
  REQUIRE(made.status == 0);
  CHECK(holds(read_file(folder / "mine" / "mine.cpp"), "struct Mine {"));
  for (std::string const file : {"CMakeLists.txt", "check.sh", "spec.yaml", "README.md"})
    for (std::string const hole : {"@NAME@", "@STRUCT@", "@INSPECT@", "@SETTING@", "@TIERS@"})
      CHECK_FALSE(holds(read_file(folder / "mine" / file), hole));
  auto const again = sextant_program({"plugin", "new", "mine", "-o", at});
  CHECK(again.status == 2);
  CHECK(holds(again.output, "is there already"));
  CHECK(holds(sextant_program({"plugin", "new", "rope"}).output, "there is a plugin rope already"));
  CHECK(holds(sextant_program({"plugin", "new", "mine2", "--kind", "rotory"}).output, "did you mean rotary?"));
  CHECK(holds(sextant_program({"plugin", "new", "My-Plugin"}).output, "expected a lower-case letter"));
}

TEST_CASE("cli: compare --table refuses what says nothing about that table", "[cli][compare]") {
  std::string const study = quickstart() + "/study.h5";
  auto const reach = sextant_program({"compare", study, "--table", "reach"});
  INFO(reach.output);
  CHECK(reach.status == 0);
  CHECK(holds(reach.output, "alibi"));
  CHECK(sextant_program({"compare", study, "--table", "learning", "--baseline", "rope"}).status == 0);

  struct Refused {
    std::string table, option, value, expected;
  };
  for (auto const& [table, option, value, expected] :
       {Refused{"reach", "--by", "encoding", "--by says nothing about --table reach"},
        Refused{"reach", "--baseline", "rope", "expected it with --table results or learning"},
        Refused{"learning", "--probe", "lm_loss", "expected it with --table results"},
        Refused{"learning", "--region", "mean", "--region says nothing"},
        Refused{"learning", "--metric", "loss", "--metric says nothing"},
        Refused{"learning", "--format", "csv", "is no CSV"}}) {
    auto const wrong = sextant_program({"compare", study, "--table", table, option, value});
    INFO(wrong.output);
    CHECK(wrong.status == 2);
    CHECK(holds(wrong.output, expected));
  }
  CHECK(holds(sextant_program({"compare", study, "--table", "lerning"}).output, "did you mean learning?"));
}

TEST_CASE("cli: options of which one would not be heeded are refused together", "[cli][reject]") {
  test::TempFolder const folder;
  std::string const study = quickstart() + "/study.h5";
  write_file_atomically(folder / "config.json",
                        R"({"model_type": "llama", "max_position_embeddings": 4096, "rope_theta": 10000.0,
                            "hidden_size": 512, "num_attention_heads": 8})");
  std::string const config = (folder / "config.json").string();
  struct Refused {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (auto const& [arguments, expected] : {
           Refused{{"compare", study, "--json", "--format", "csv"}, "--json and --format csv are two formats"},
           Refused{{"compare", study, "--table", "reach", "--json", "--format", "csv"}, "are two formats: give one"},
           Refused{{"compare", study, quickstart()}, "is given twice"},
           Refused{{"check", study, "--json", "--format", "latex"}, "check: --json and --format latex"},
           Refused{{"plot", study, "extrapolation", "--list"}, "name excludes --list"},
           Refused{{"plan", quickstart(), "--power", "0.9"}, "--power requires --from"},
           Refused{{"list", "tasks", "--matrix"}, "kind excludes --matrix"},
           Refused{{"extend", "model", "--text", config, "--documents", "3"}, "--documents requires --corpus"},
           Refused{{"extend", "model", "--text", config, "--tune-rate", "1e-4"}, "--tune-rate requires --tune"},
           Refused{{"search", "model", "--text", config, "--documents", "3"}, "--documents goes with --corpus"},
           Refused{{"search", "model", "--text", config, "--depths", "3"}, "--depths goes with --objective needle"},
           Refused{{"search", "model", "--run-seed", "3"}, "--run-seed requires --arm"},
           Refused{{"advise", "--trained", "8192", "--to", "16384", "--number-bytes", "1"}, "requires --layers"},
           Refused{{"advise", "--trained", "8192", "--to", "16384", "--head-width", "64"}, "--head-width says nothing"},
           Refused{{"verify", study, "--failures", "--json"}, "--failures is of the table"},
           Refused{{"convert", "--from", "hf", "--to", "llamacpp", config, "--arch", "llama"}, "--arch goes with keys"},
           Refused{{"convert", "--from", "hf", "--to", "llamacpp", config, "--base", "5000"},
                   "the base is 10000 there, and --base says 5000"},
           Refused{{"convert", "--from", "hf", "--to", "llamacpp", config, "--head-width", "128"},
                   "the width of a head is 64 there"},
           Refused{{"doctor", config, "--trained", "8192"},
                   "the trained length is 4096 there, and --trained says 8192"},
           Refused{{"doctor", quickstart(), "--trained", "8192"}, "--trained goes with a configuration"},
       }) {
    auto const wrong = sextant_program(arguments);
    INFO(wrong.output);
    CHECK(wrong.status == 2);
    CHECK(holds(wrong.output, expected));
  }
  CHECK(sextant_program({"compare", study, "--json", "--format", "json"}).status == 0);
  CHECK(sextant_program({"convert", "--from", "hf", "--to", "llamacpp", config, "--base", "10000"}).status == 0);
}

TEST_CASE("cli: what is no number, no name and no folder is refused by the argument that brought it", "[cli][reject]") {
  test::TempFolder const folder;
  write_file_atomically(folder / "file", "text");
  std::string const file = (folder / "file").string(), study = quickstart() + "/study.h5";
  struct Refused {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (auto const& [arguments, expected] : {
           Refused{{"doctor", quickstart(), "--spread", "nan"}, "--spread: nan is not a number > 0"},
           Refused{{"doctor", quickstart(), "--spread", "inf"}, "--spread: inf is not a number > 0"},
           Refused{{"search", "model", "--chance", "nan"}, "--chance: nan is not a number from 0 to 1"},
           Refused{{"search", "model", "--seed", "-1"}, "--seed: "},
           Refused{{"extend", "model", "--tune", "1e6", "--tune-rate", "nan"}, "--tune-rate: nan is not"},
           Refused{{"convert", "--from", "hf", "--to", "gguf", file, "--base", "nan"},
                   "--base: nan is not a number > 1"},
           Refused{{"inspect", "learned", "--length", "16", "--seed", "-1"}, "--seed: "},
           Refused{{"run", quickstart(), "--only", ""}, "there is an empty argument behind --only"},
           Refused{{"report", study, "-o", ""}, "there is an empty argument behind -o"},
           Refused{{"report", study, "-o", "/proc/page.html"}, "sextant: /proc/page.html: cannot open"},
           Refused{{"gallery", study, "-o", file + "/x"}, file + "/x: cannot make this folder: "},
           Refused{{"export", study, "-o", file + "/x/study.h5"}, file + "/x: cannot make this folder: "},
           Refused{{"inspect", "rope", "--length", "16", "--plots", file}, file + ": cannot make this folder: "},
           Refused{{"check", study, "--format", "xml"}, "sextant: there is no format \"xml\""},
           Refused{{"verify", std::string(std::getenv("SEXTANT_SOURCE")) + "/tests/data/scaling.json", "--exact"},
                   "no file holds those"},
       }) {
    auto const wrong = sextant_program(arguments);
    INFO(wrong.output);
    CHECK(wrong.status == 2);
    CHECK(holds(wrong.output, expected));
  }
}

TEST_CASE("cli: what validate prints is valid again, with a claim about shares that only another tier tests", "[cli]") {
  test::TempFolder const folder;
  std::string const copy = std::string(std::getenv("SEXTANT_SOURCE")) + "/experiments/copy";
  auto resolved = sextant_program({"validate", copy, "--set", "evaluate.accuracy.lengths=[8, 16]"});
  INFO(resolved.output);
  REQUIRE(resolved.status == 0);
  REQUIRE(holds(resolved.output, "reach: elsewhere"));
  auto const verdict = resolved.output.find(copy);  // on standard error, which falls anywhere
  REQUIRE(verdict != std::string::npos);
  resolved.output.erase(verdict, resolved.output.find('\n', verdict) + 1 - verdict);
  write_file_atomically(folder / "again.yaml", resolved.output);
  auto const again = sextant_program({"validate", (folder / "again.yaml").string()});
  INFO(again.output);
  CHECK(again.status == 0);
}
