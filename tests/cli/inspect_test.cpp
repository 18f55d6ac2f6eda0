#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>

#include <chrono>
#include <cmath>
#include <set>

#include "support/holds.hpp"
#include "support/process.hpp"

using namespace sextant;
using nlohmann::json;
using test::holds;
using test::sextant_program;

namespace {

std::vector<std::string> const analyses = {"wavelengths", "expected_logit", "bias",      "spectrum",
                                           "tables",      "rotary_rank",    "precision", "cost"};

json inspect_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "inspect");
  arguments.push_back("--json");
  auto const out = sextant_program(arguments);
  INFO(out.output);
  REQUIRE(out.status == 0);
  return json::parse(out.output);
}
}  // namespace

TEST_CASE("inspect: every encoding is inspected, and every analysis has a value or a reason", "[cli][inspect]") {
  auto const encodings = json::parse(sextant_program({"list", "--matrix", "--json"}).output);
  std::set<std::string> done;
  for (auto const& combination : encodings) {
    std::string const name = combination["first"];
    if (done.count(name)) continue;
    auto const page = json::parse(sextant_program({"describe", name, "--json"}).output);
    bool required = page["takes_parts"];
    for (auto const& option : page["options"]) required = required || option["default"].is_null();
    // Encodings of several axes ask how positions lie on a grid, and refuse until told.
    done.insert(name);
    if (required || name == "rope2d" || name == "rope3d") continue;
    INFO(name);
    auto const found = inspect_json({name, "--length", "64", "--trained", "32", "--heads", "2", "--head-width", "16"});
    for (auto const& analysis : analyses) {
      REQUIRE(found.contains(analysis));
      if (found[analysis].is_object() && found[analysis].contains("does_not_apply"))
        CHECK(found[analysis]["does_not_apply"].get<std::string>().size() > 10);
      else
        CHECK_FALSE(found[analysis].empty());
    }
  }
  CHECK(done.size() >= 9);
}

TEST_CASE("inspect: options and scalings are written as in a spec, and change what is found", "[cli][inspect]") {
  auto const plain = inspect_json({"rope", "--length", "32768", "--trained", "8192"});
  auto const scaled =
      inspect_json({"{use: rope, base: 500000}", "{use: yarn, factor: 4}", "--length", "32768", "--trained", "8192"});
  CHECK(plain["scaling"] == "");
  double const last = plain["wavelengths"][0]["pairs"][31]["wavelength"];
  CHECK(std::abs(last / (2 * std::acos(-1.0) * std::pow(1e4, 62.0 / 64)) - 1) < 1e-12);
  CHECK(scaled["wavelengths"][0]["pairs"][31]["plain_inv_freq"] == std::pow(500000.0, -62.0 / 64));
  CHECK(scaled["wavelengths"][0]["attention_factor"] > 1.1);
  auto const seeds = inspect_json({"t5", "--length", "64", "--seed", "2"});
  CHECK(seeds["bias"] != inspect_json({"t5", "--length", "64", "--seed", "3"})["bias"]);
  CHECK(seeds["bias"] == inspect_json({"t5", "--length", "64", "--seed", "2"})["bias"]);
}

TEST_CASE("inspect: what is wrong is said, with the nearest name, and status 2", "[cli][inspect][reject]") {
  std::pair<std::vector<std::string>, std::string> const cases[] = {
      {{"rpoe", "--length", "64"}, "did you mean rope"},
      {{"rope", "yran", "--length", "64"}, "did you mean yarn"},
      {{"{use: rope, bas: 5}", "--length", "64"}, "did you mean base"},
      {{"rope", "{use: linear, factor: 0.5}", "--length", "64"}, "factor"},
      {{"alibi", "{use: linear, factor: 2}", "--length", "64"}, "scales rotary frequencies"},
      {{"rope", "--length", "1"}, "expected a whole number of tokens from 2"},
      {{"rope", "--length", "1e9"}, "expected a whole number of tokens from 2"},
      {{"rope", "--length", "many"}, "expected a whole number of tokens"},
      {{"rope", "--length", "64", "--trained", "12.5"}, "--trained is 12.5"},
      {{"rope", "--length", "64", "--head", "8"}, "--head is 8, expected 0 to 7"},
      {{"rope", "--length", "64", "--head-width", "7"}, "even"},
      {{"rope", "{use: linear, factor: auto}", "--length", "64"}, "trained length"},
      {{"rope"}, "--length"}};
  for (auto const& [arguments, part] : cases) {
    auto all = arguments;
    all.insert(all.begin(), "inspect");
    auto const out = sextant_program(all);
    INFO(out.output);
    CHECK(out.status == 2);
    CHECK(holds(out.output, part));
  }
}

TEST_CASE("inspect: a million tokens are looked at without work for each pair of them", "[cli][inspect]") {
  for (std::string const name : {"rope", "alibi", "sinusoidal", "fox"}) {
    auto const begin = std::chrono::steady_clock::now();
    auto const out = sextant_program({"inspect", name, "--length", "1000000", "--trained", "8192"});
    CHECK(out.status == 0);
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    INFO(name << " took " << seconds << " s");
    CHECK(seconds < 30);  // about one on a quiet machine
  }
}

TEST_CASE("inspect: plots are the ones of the interface, well-formed, and the same on every run", "[cli][inspect]") {
  test::TempFolder const folder;
  auto const write = [&](std::string const& name, std::string const& into) {
    auto const out =
        sextant_program({"inspect", name, "--length", "1024", "--trained", "256", "--plots", (folder / into).string()});
    INFO(out.output);
    REQUIRE(out.status == 0);
  };
  write("[rope, alibi]", "a");
  write("[rope, alibi]", "b");
  std::set<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder / "a")) {
    std::string const svg = read_file(entry.path());
    names.insert(entry.path().stem().string());
    CHECK(svg.starts_with("<?xml"));
    CHECK(holds(svg, "prefers-color-scheme: dark"));
    CHECK(svg == read_file(folder / "b" / entry.path().filename().string()));
  }
  CHECK(names == std::set<std::string>{"table_heatmap", "wavelengths", "unseen_phase", "rotation_planes", "decay",
                                       "bias_profile", "spectrum", "growth", "precision_error"});
}

TEST_CASE("list --matrix: text, JSON and Markdown tell the same, and quickly", "[cli][matrix]") {
  auto const begin = std::chrono::steady_clock::now();
  auto const out = sextant_program({"list", "--matrix", "--json"});
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 20);  // below 1 when quiet
  REQUIRE(out.status == 0);
  int working = 0;
  for (auto const& c : json::parse(out.output)) {
    CHECK(c["works"].get<bool>() == c["reason"].get<std::string>().empty());
    working += c["works"].get<bool>() && c["composition"] == "sum";
  }
  for (std::string const option : {"", "--markdown"}) {
    std::vector<std::string> arguments = {"list", "--matrix"};
    if (!option.empty()) arguments.push_back(option);
    auto const shown = sextant_program(arguments);
    REQUIRE(shown.status == 0);
    CHECK(holds(shown.output, "A sum [row, column]: " + std::to_string(working) + " of "));
    CHECK(holds(shown.output, "would both turn the same channels"));
  }
  CHECK(sextant_program({"list", "--markdown"}).status == 2);
}
