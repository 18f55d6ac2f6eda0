// The conformance suite finds what is wrong with plugins that are wrong on purpose, and nothing else.
#include "support/process.hpp"

#include <sextant/base/error.hpp>
#include <sextant/check/conformance.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>

#include <fstream>

using namespace sextant;
using Catch::Matchers::ContainsSubstring;
using check::Conformance;
using check::Outcome;
using encoding::Registry;
using encoding::Role;
using test::sextant_program;

namespace {
std::string wrong_file(std::string const& name) { return std::string(SEXTANT_WRONG_PLUGINS) + "/" + name + ".so"; }

Conformance report_on(std::string const& name, std::vector<std::string> only = {}) {
  Registry& registry = Registry::global();
  for (Role role : encoding::all_roles)
    if (registry.has(role, name)) return check::check_plugin(registry, role, name, {.only = only});
  registry.load_file(wrong_file(name));
  return check::check_plugin(registry, registry.loaded().back().role, name, {.only = only});
}

/// Exactly these checks fail, each with the input that shows it.
Conformance expect_failures(std::string const& name, std::vector<std::string> const& failing) {
  auto const report = report_on(name);
  INFO(report.table());
  CHECK(report.failures() == failing);
  CHECK(report.findings.size() == check::conformance_checks().size());
  for (auto const& finding : report.findings)
    if (finding.outcome == Outcome::fail) {
      INFO(finding.check);
      CHECK_THAT(finding.input, ContainsSubstring(name));
      CHECK((finding.measured || !finding.note.empty()));
    }
  return report;
}
}  // namespace

TEST_CASE("conformance: a bias of the wrong sign is not what it claims to equal", "[check][wrong]") {
  auto const report = expect_failures("flipped_sign", {"equals"});
  auto const& finding = report.at("equals");
  CHECK(finding.found != finding.expected);
  CHECK_THAT(finding.place, ContainsSubstring("alibi of one slope: output: batch 0, head 0, token "));
  CHECK_THAT(finding.input, ContainsSubstring("flipped_sign; batch 1, 4 heads over 4 key heads, head_dim 8"));
}
TEST_CASE("conformance: a bias scaled as the product is, is not what it claims to equal", "[check][wrong]") {
  expect_failures("scaled_bias", {"equals"});
}
TEST_CASE("conformance: a derivative that lacks a term", "[check][wrong]") {
  expect_failures("missing_term", {"gradient_parameters"});
}
TEST_CASE("conformance: a derivative with a wrong factor, of queries and of the gate's projection", "[check][wrong]") {
  expect_failures("wrong_factor", {"gradient_inputs", "gradient_parameters"});
}
TEST_CASE("conformance: a pair that reads the next key", "[check][wrong]") {
  expect_failures("next_key", {"causal", "documents", "chunks", "decode"});
}
TEST_CASE("conformance: a pair that reads the first key, hidden or not", "[check][wrong]") {
  expect_failures("first_key", {"hidden_keys", "documents", "padding", "offset"});
}
TEST_CASE("conformance: padding that is read", "[check][wrong]") { expect_failures("padding_leak", {"padding"}); }
TEST_CASE("conformance: documents that see one another", "[check][wrong]") {
  expect_failures("documents_leak", {"documents"});
}
TEST_CASE("conformance: a place counted within the call, so that a cache gives something else", "[check][wrong]") {
  expect_failures("call_index", {"chunks", "decode"});
}
TEST_CASE("conformance: a counter that lives from call to call", "[check][wrong]") {
  expect_failures("counter", {"repeats", "causal"});
}
TEST_CASE("conformance: a first token that is refused", "[check][wrong]") {
  expect_failures("two_tokens", {"state", "chunks", "decode", "short_inputs"});
}
TEST_CASE("conformance: the relative law claimed of a phase that bends", "[check][wrong]") {
  expect_failures("false_relative", {"relative", "offset"});
}
TEST_CASE("conformance: the group law claimed of a phase that wobbles", "[check][wrong]") {
  expect_failures("false_group", {"group"});
}
TEST_CASE("conformance: norms claimed to stay that do not", "[check][wrong]") {
  expect_failures("false_orthogonal", {"orthogonal"});
}
TEST_CASE("conformance: a logarithm claimed to add up", "[check][wrong]") {
  expect_failures("false_additive", {"additive"});
}
TEST_CASE("conformance: NaN at positions far past the trained length", "[check][wrong]") {
  auto const report = expect_failures("nan_far", {"past_trained"});
  CHECK_THAT(report.at("past_trained").note, ContainsSubstring("expected a finite number"));
}
TEST_CASE("conformance: an option that nothing reads is named", "[check][wrong]") {
  auto const report = expect_failures("unread_option", {"options"});
  CHECK(report.at("options").note == "the option floor is accepted and changes nothing");
}
TEST_CASE("conformance: a word of a choice that does what another does is named", "[check][wrong]") {
  auto const report = expect_failures("unread_word", {"options"});
  CHECK(report.at("options").note == "shape root is accepted and does what shape linear does");
}
TEST_CASE("conformance: head counts that give NaN", "[check][wrong]") { expect_failures("odd_heads", {"odd_shapes"}); }
TEST_CASE("conformance: far positions formed in float32", "[check][wrong]") {
  auto const report = expect_failures("float_phase", {"float32"});
  CHECK_THAT(report.at("float32").input, ContainsSubstring("at [1e+06"));
}
TEST_CASE("conformance: another constant in float32", "[check][wrong]") {
  expect_failures("float_constant", {"float32"});
}
TEST_CASE("conformance: an output that hangs on the last bits of its inputs", "[check][wrong]") {
  // Passes in pieces add up in another order, which such a plugin may show too.
  CHECK(report_on("steep", {"bf16"}).at("bf16").outcome == Outcome::fail);
}
TEST_CASE("conformance: a declared parameter that nothing reads", "[check][wrong]") {
  auto const report = expect_failures("idle_weight", {"parameters"});
  CHECK_THAT(report.at("parameters").note,
             ContainsSubstring("declares 2 numbers a head, and number 1 moves no output"));
}
TEST_CASE("conformance: parameters that start elsewhere each time", "[check][wrong]") {
  auto const report = report_on("restless_start");
  CHECK(report.at("parameters").outcome == Outcome::fail);
  CHECK(report.at("gradient_parameters").outcome == Outcome::pass);
}
TEST_CASE("conformance: a scaling that does something at factor 1", "[check][wrong]") {
  expect_failures("false_identity", {"identity_at_factor_one"});
}
TEST_CASE("conformance: a scaling that reads the length and does not say so", "[check][wrong]") {
  expect_failures("secret_length", {"follows_length"});
}
TEST_CASE("conformance: a scaling that hides its derivative", "[check][wrong]") {
  expect_failures("detached_scaling", {"parameters", "gradient_parameters"});
}

TEST_CASE("conformance: the program finds what depends on the number of threads", "[check][wrong][threads]") {
  for (std::string const threads : {"1", "2"}) {
    auto const ended = sextant_program({"plugin", "check", wrong_file("thread_count"), "--threads", threads, "--only",
                                        "threads", "repeats", "--json"});
    INFO(ended.output);
    CHECK(ended.status == 3);
    auto const checks = nlohmann::json::parse(ended.output)["checks"];
    REQUIRE(checks.size() == 2);
    CHECK(checks[0]["verdict"] == "pass");
    CHECK(checks[1]["check"] == "threads");
    CHECK(checks[1]["verdict"] == "fail");
  }
}

TEST_CASE("conformance: a crash is reported with the input that caused it, after what was found before",
          "[check][wrong]") {
  auto const ended = sextant_program({"plugin", "check", wrong_file("odd_crash")});
  INFO(ended.output);
  CHECK(ended.status == 3);
  CHECK_THAT(ended.output, ContainsSubstring("gradient_inputs         pass") &&
                               ContainsSubstring("odd_shapes              FAIL") &&
                               ContainsSubstring("the plugin crashed here") && ContainsSubstring("head_dim 5"));
}

TEST_CASE("conformance: the program prints a table or JSON and ends with 0 only if nothing failed", "[check][cli]") {
  auto const good = sextant_program({"plugin", "check", "alibi", "--only", "relative", "group", "device"});
  INFO(good.output);
  CHECK(good.status == 0);
  CHECK_THAT(good.output, ContainsSubstring("relative                pass") &&
                              ContainsSubstring("group                   not claimed") &&
                              ContainsSubstring("device                  not applicable") &&
                              ContainsSubstring("alibi: 1 passed, 0 failed, 1 not claimed, 1 not applicable"));
  auto const bad = sextant_program({"plugin", "check", wrong_file("false_group"), "--only", "group", "--json"});
  INFO(bad.output);
  CHECK(bad.status == 3);
  auto const json = nlohmann::json::parse(bad.output);
  CHECK(json["plugin"] == "false_group");
  CHECK(json["passed"] == false);
  CHECK(json["checks"][0]["worst"] > json["checks"][0]["bound"]);
  CHECK_THAT(std::string(json["checks"][0]["input"]), ContainsSubstring("false_group; batch 1"));
  CHECK(json["checks"][0]["found"] != json["checks"][0]["expected"]);
}

TEST_CASE("conformance: a task whose answer does not follow from its question, and one whose rows are too long",
          "[check][wrong][tasks]") {
  auto const undetermined = report_on("two_answers");
  CHECK(undetermined.failures() == std::vector<std::string>{"determined"});
  CHECK_THAT(undetermined.at("determined").note, ContainsSubstring("the answer is 2 once and 3 another time") ||
                                                     ContainsSubstring("the answer is 3 once and 2 another time"));
  auto const too_long = report_on("long_rows");
  CHECK(too_long.failures() == std::vector<std::string>{"rows"});
  CHECK_THAT(too_long.at("rows").note, ContainsSubstring("3 tokens, 2 declared"));
}

TEST_CASE("conformance: a task that places a token past its reach is told where", "[check][wrong][tasks]") {
  auto const report = report_on("past_reach");
  CHECK(report.failures() == std::vector<std::string>{"positions"});
  CHECK_THAT(report.at("positions").note, ContainsSubstring("position 4, expected 0 to 3"));
}

TEST_CASE("conformance: an unknown plugin, check or file and a file that is none are refused", "[check][cli]") {
  auto const refused = [](std::vector<std::string> arguments, std::string const& words) {
    auto const ended = sextant_program(std::move(arguments));
    INFO(ended.output);
    CHECK(ended.status == 2);
    CHECK_THAT(ended.output, ContainsSubstring(words));
  };
  refused({"plugin", "check", "alibo"}, "there is no plugin alibo; did you mean alibi?");
  refused({"plugin", "check", "alibi", "--only", "relativ"}, "there is no check relativ; did you mean relative?");
  refused({"plugin", "check", "./nowhere.so"}, "./nowhere.so: no such plugin file");
  test::TempFolder const folder;
  std::ofstream(folder / "text.so") << std::string(4096, 't');
  refused({"plugin", "check", (folder / "text.so").string()}, "the loader refused it");
  std::string bytes = read_file(wrong_file("false_group"));
  auto const magic = bytes.find(std::string("sextant-plugin\0", 15));
  REQUIRE(magic != std::string::npos);
  bytes[magic + 16] = 99;  // the API number behind the magic
  std::ofstream(folder / "newer.so", std::ios::binary) << bytes;
  refused({"plugin", "check", (folder / "newer.so").string()}, "speaks plugin API 99, this sextant speaks ");
}
