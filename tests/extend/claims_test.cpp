// Claims of a model that is given, judged over the documents that it read.
#include <sextant/claims/judge.hpp>
#include <sextant/extend/claims.hpp>
#include <sextant/results/file.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>

#include "support/data_file.hpp"
#include "support/process.hpp"

using namespace sextant;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using test::sextant_program;

namespace {
std::string tiny_llama() { return test::data_file("pretrained/tiny_llama.gguf"); }

std::string document(int n) {
  char const* const words[] = {"wind ", "stone ", "river ", "of ", "the ", "and ", "light ", "under "};
  Stream const stream(static_cast<std::uint64_t>(n), "words");
  std::string all;
  for (int i = 0; i < 160; ++i) all += words[stream.below(8, static_cast<std::uint64_t>(i))];
  return all;
}

/// `sextant extend` over some documents, with claims where there are some.
std::vector<std::string> command(test::TempFolder const& folder, int documents, std::string const& claims) {
  std::vector<std::string> out{
      "extend", tiny_llama(), "--with",   "linear,yarn", "--to",   "128", "--lengths", "64",
      "--tail", "16",         "--depths", "0",           "--rows", "0",   "-o",        (folder / "out").string(),
      "--text"};
  for (int n = 0; n < documents; ++n) {
    auto const file = folder / text("d", n, ".txt");
    write_file_atomically(file, document(n));
    out.push_back(file.string());
  }
  if (claims.empty()) return out;
  write_file_atomically(folder / "claims.yaml", claims);
  out.insert(out.end(), {"--claims", (folder / "claims.yaml").string()});
  return out;
}

std::string const linear = "lm_loss.tail16 @ 128 {scaling=linear x2}", yarn = "lm_loss.tail16 @ 128 {scaling=yarn x2}";
std::string const window = "window_control.tail16 @ 128";
std::string list(std::string const& items) { return "claims:\n  list:\n" + items; }
}  // namespace

TEST_CASE("extend: claims are judged over documents, and measure nothing anew", "[extend][claims]") {
  test::TempFolder const folder;
  auto const bare = sextant_program(command(folder, 6, ""));
  INFO(bare.output);
  REQUIRE(bare.status == 0);
  auto const first = results::read_file(folder / "out" / "study.h5");
  CHECK_FALSE(first.has_group("summary/claims"));
  auto const again = sextant_program(
      command(folder, 6,
              list("    - {id: sane, test: '" + linear + " < 100'}\n    - {id: absurd, test: '" + yarn + " > 100'}\n" +
                   "    - {id: near, test: '" + yarn + " - " + window + " == 0', margin: 50 nat, by: paired_t}\n")));
  INFO(again.output);
  REQUIRE(again.status == 0);
  CHECK_THAT(again.output, ContainsSubstring("Claims: of 3, 2 hold, 1 fails"));
  CHECK_THAT(again.output, ContainsSubstring("n: documents, each of which counts once"));
  auto const file = results::read_file(folder / "out" / "study.h5");
  CHECK(file.group("runs").groups.size() == first.group("runs").groups.size());
  for (auto const& [id, run] : first.group("runs").groups) CHECK(file.group("runs").groups.find(id) != nullptr);
  auto const board = claims::from_group(file.group("summary/claims"));
  CHECK(board.sample == claims::Sample::documents);

  // The interval of the third, by hand from the values that the file keeps.
  std::vector<double> left, right;
  for (auto const& [id, run] : file.group("runs").groups) {
    auto const scaling = run.attribute<std::string>("scaling");
    if (scaling == "yarn x2") {
      auto const all = run.values<double>("eval/lm_loss/tail16_by_window", {2, 6});
      left.assign(all.begin() + 6, all.end());
    }
    if (scaling == "none") right = run.values<double>("eval/window_control/tail16_by_window", {1, 6});
  }
  auto const expected = statistics::paired(left, right);
  auto const& near = board.outcomes.at(2);
  CHECK(*near.effect == Approx(*expected.difference));
  CHECK(near.interval->low == Approx(expected.interval->low));
  CHECK(near.windows == 6);
  CHECK(near.seeds == 0);

  auto const check = sextant_program({"check", (folder / "out").string(), "--json", "--strict"});
  CHECK(check.status == 4);
  auto const json = nlohmann::json::parse(check.output.substr(check.output.find('{')));
  CHECK(json["sample"] == "documents");
  CHECK(json["claims"][0]["verdict"] == "holds");
  CHECK(json["claims"][1]["verdict"] == "fails");
  CHECK(json["claims"][2]["low"] == near.interval->low);
  CHECK_THAT(read_file(folder / "out" / "report.html"), ContainsSubstring("id=\"claim-absurd\""));
}

TEST_CASE("check: a finished study is held to other claims, which are kept in it when that is asked for",
          "[extend][claims]") {
  test::TempFolder const folder;
  REQUIRE(sextant_program(command(folder, 6, "")).status == 0);
  auto const out = (folder / "out").string(), file = (folder / "claims.yaml").string();
  write_file_atomically(file, list("    - {id: sane, test: '" + linear + " < 100'}\n"));
  auto const printed = sextant_program({"check", out, "--claims", file});
  CHECK(printed.status == 0);
  CHECK_THAT(printed.output, ContainsSubstring("Claims: the one holds") || ContainsSubstring("1 holds"));
  CHECK_FALSE(results::read_file(folder / "out" / "study.h5").has_group("summary/claims"));
  CHECK(sextant_program({"check", out, "--claims", file, "--keep"}).status == 0);
  auto const board = claims::from_group(results::read_file(folder / "out" / "study.h5").group("summary/claims"));
  CHECK(board.sample == claims::Sample::documents);
  REQUIRE(board.outcomes.size() == 1);

  // The same numbers as when extend itself is given the claims.
  REQUIRE(sextant_program(command(folder, 6, read_file(file))).status == 0);
  auto const direct = claims::from_group(results::read_file(folder / "out" / "study.h5").group("summary/claims"));
  CHECK(direct.outcomes[0].effect == board.outcomes[0].effect);
  CHECK(direct.outcomes[0].p == board.outcomes[0].p);

  write_file_atomically(file, list("    - {id: c, test: 'lm_loss.tail16 @ 128 {scaling=yarn x3} < 2'}\n"));
  auto const wrong = sextant_program({"check", out, "--claims", file});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.output, ContainsSubstring("no arm has scaling yarn x3; did you mean yarn x2?"));
  CHECK(sextant_program({"check", out, "--keep"}).status == 2);
}

TEST_CASE("extend: a wrong claim is refused before anything is read, at its word", "[extend][claims]") {
  test::TempFolder const folder;
  auto const refused = [&](std::string const& test, std::string const& message) {
    auto const found = sextant_program(command(folder, 2, list("    - {id: c, test: '" + test + "'}\n")));
    INFO(found.output);
    CHECK(found.status == 2);
    CHECK_THAT(found.output, ContainsSubstring(message));
    CHECK_FALSE(fs::exists(folder / "out" / "study.h5"));
  };
  refused("lm_loss.tail16 @ 128 {scaling=yarn x3} < 2", "no arm has scaling yarn x3; did you mean yarn x2?");
  refused("lm_loss.tail64 @ 128 {scaling=yarn x2} < 2", "lm_loss keeps no tail64; did you mean tail16?");
  refused("lm_loss.tail16 @ 256 {scaling=yarn x2} < 2",
          "lm_loss is not measured at 256 tokens, expected one of [64, 128]");
  refused("attention.entropy @ 128 < 2", "no measurement is called attention");
  refused("window_control.tail16 @ 128 {scaling=yarn x2} < 2", "no arm has scaling yarn x2");
}

TEST_CASE("extend: one tuning is one, and a claim about it is out of reach", "[extend][claims][tune]") {
  extend::Arm tuned{.label = "yarn x2 tuned", .position = {}, .follows_length = false, .weights = "abc"}, plain;
  plain.label = "yarn x2";
  claims::Claim about;
  about.settled = "lm_loss.mean @ 8 {encoding=m, scaling=yarn x2 tuned} < lm_loss.mean @ 8 {encoding=m, scaling=none}";
  claims::Claim given;
  given.settled = "lm_loss.mean @ 8 {encoding=m, scaling=yarn x2} < 2";
  auto const found = extend::about_documents({.list = {about, given}}, extend::tuned_in({plain, tuned}));
  CHECK(found.sample == claims::Sample::documents);
  CHECK(found.list[0].settled.empty());
  CHECK_THAT(found.list[0].missing, ContainsSubstring("yarn x2 tuned was trained once"));
  CHECK(found.list[1].settled == given.settled);
  CHECK(found.list[1].missing.empty());
}
