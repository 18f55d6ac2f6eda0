#include <sextant/results/compare.hpp>
#include <sextant/results/study.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

#include "python.hpp"

using namespace sextant::results;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::WithinAbs;
using sextant::test::complaint;
using sextant::test::Scratch;

namespace {
ResultRow row(std::string const& encoding, std::int64_t seed, std::int64_t length, double value) {
  ResultRow out;
  out.study = "tiny", out.run = sextant::text(encoding, "-", seed), out.seed = seed, out.encoding = encoding;
  out.probe = "lm_loss", out.length = length, out.metric = "loss", out.value = value, out.error = 0.125;
  out.n = 64, out.units = "nat/token";
  return out;
}

Group trained(std::vector<float> const& loss) {
  Group out;
  out.set("seconds", 1.5);
  out["config"].set("train.length", 256);
  Group& train = out["train"];
  train.put("step", std::vector<std::int64_t>{0, 1, 2}, "1", "optimiser step");
  train.put("loss", loss, "nat/token", "training loss").along({"step"});
  train.plot("loss", {"step"});
  return out;
}

Group evaluated(ResultRow const& result) {
  Group out;
  Group& loss = out["eval"]["lm_loss"];
  loss.put("length", std::vector<std::int64_t>{result.length}, "token", "tokens in the window");
  loss.put("mean", std::vector<double>{result.value}, "nat/token", "mean loss").along({"length"});
  loss.put(sextant::text("per_position_", result.length), std::vector<float>(3, 1.0f), "nat/token", "loss by position");
  out["results"] = columns({result});
  return out;
}

void write(Store const& store, std::string const& id, Group const& record) {
  auto const claim = store.try_claim(id);
  REQUIRE(claim);
  store.write(*claim, record);
}

// Two encodings, two seeds, two lengths: nope 3 and 5, rope 2 and 4 at 128; 1 more at 256.
Study study_in(Store const& store) {
  Study study;
  study.name = "tiny", study.title = "Does it fit?", study.creator_version = "0.1.0";
  study.source = "sextant: 1\n", study.resolved = "sextant: 1\ntier: smoke\n";
  study.provenance.inputs.push_back({"kjv", "corpus", 4000000, "00ff", "public domain"});
  for (std::string const encoding : {"nope", "rope"})
    for (std::int64_t const seed : {11, 23}) {
      Run run;
      run.id = sextant::text(encoding, "-", seed), run.seed = seed, run.encoding = encoding;
      run.stages = {run.id + "-train", run.id + "-128", run.id + "-256"};
      double const loss = (encoding == "nope" ? 3 : 2) + (seed == 23 ? 2 : 0);
      write(store, run.stages[0], trained({5, 4, static_cast<float>(loss)}));
      write(store, run.stages[1], evaluated(row(encoding, seed, 128, loss)));
      write(store, run.stages[2], evaluated(row(encoding, seed, 256, loss + 1)));
      study.runs.push_back(run);
    }
  return study;
}
}  // namespace

TEST_CASE("a table becomes columns and rows again", "[results][study]") {
  ResultTable const rows{row("nope", 11, 128, 3.5), row("rope", 0, 2048, -0.0)};
  Group const stored = columns(rows);
  CHECK(table(stored) == rows);
  CHECK(stored.arrays.names() == std::vector<std::string>{"study", "run", "seed", "encoding", "scaling", "probe",
                                                          "length", "region", "metric", "value", "stderr", "n",
                                                          "units"});
  CHECK(table(columns({})).empty());
  Group broken = stored;
  broken.put("value", std::vector<double>{1}, "1", "one value");
  CHECK_THAT(complaint([&] { table(broken); }), EndsWith("value is float64 [1], expected shape [2]"));
}

TEST_CASE("a study file holds the runs with their lengths joined, and every measurement", "[results][study]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  store.publish(assemble(study_in(store), store));
  Group const file = read_file(store.study_file());

  CHECK(file.attribute<std::string>("schema") == "sextant-results/1");
  CHECK(file.text("spec/source") == "sextant: 1\n");
  CHECK(std::get<std::string>(file.array("spec/source").attributes.at("sha256")) == sextant::sha256("sextant: 1\n"));
  CHECK(file.group("runs").groups.names() == std::vector<std::string>{"nope-11", "nope-23", "rope-11", "rope-23"});
  Group const& run = file.group("runs/rope-23");
  CHECK(run.attribute<std::string>("status") == "done");
  CHECK(run.attribute<std::string>("arm") == R"({"encoding":"rope","scaling":"none"})");
  CHECK(run.group("config").attribute<int>("train.length") == 256);
  CHECK(run.values<float>("train/loss") == std::vector<float>{5, 4, 4});
  CHECK(run.values<std::int64_t>("eval/lm_loss/length") == std::vector<std::int64_t>{128, 256});
  CHECK(run.values<double>("eval/lm_loss/mean") == std::vector<double>{4, 5});
  CHECK(run.array("eval/lm_loss/mean").axes == std::vector<std::string>{"length"});
  CHECK(run.has_array("eval/lm_loss/per_position_128"));
  CHECK_FALSE(run.has_attribute("seconds"));
  ResultTable const rows = table(file.group("summary/results"));
  REQUIRE(rows.size() == 8);
  CHECK(rows[0] == row("nope", 11, 128, 3));
  CHECK(rows[7] == row("rope", 23, 256, 5));
}

TEST_CASE("a measurement bears the names that the study gives its run, not those of the study that made it",
          "[results][study]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  write(store, "s", evaluated(row("rope", 11, 128, 2)));
  Study study;
  study.name = "second";
  study.runs = {
      {.id = "r", .seed = 12, .encoding = "turned", .scaling = "ntk", .labels = {}, .parents = {}, .stages = {"s"}}};
  ResultTable const rows = table(assemble(study, store).group("summary/results"));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].study == "second");
  CHECK(rows[0].run == "r");
  CHECK(rows[0].seed == 12);
  CHECK(rows[0].encoding == "turned");
  CHECK(rows[0].scaling == "ntk");
  CHECK(rows[0].value == 2);
}

TEST_CASE("the default plot is mean and Student interval over seeds", "[results][study]") {
  ResultTable const rows{row("nope", 11, 128, 3), row("nope", 23, 128, 5), row("nope", 47, 128, 4),
                         row("rope", 11, 128, 2)};
  Group const plot = curves(rows, {"lm_loss", "mean", "loss"});
  CHECK(plot.attribute<std::string>("signal") == "nope");
  CHECK(plot.attribute<std::vector<std::string>>("auxiliary_signals") == std::vector<std::string>{"rope"});
  CHECK(plot.values<double>("nope") == std::vector<double>{4});
  // s = 1, n = 3: t(0.975; 2) = 4.30265 of any table, over sqrt(3)
  CHECK_THAT(plot.values<double>("nope_low")[0], WithinAbs(4 - 4.30265 / std::sqrt(3.0), 1e-5));
  CHECK_THAT(plot.values<double>("nope_high")[0], WithinAbs(4 + 4.30265 / std::sqrt(3.0), 1e-5));
  CHECK(plot.values<double>("rope") == std::vector<double>{2});
  CHECK(std::isnan(plot.values<double>("rope_low")[0]));  // one seed has no spread
  CHECK_THAT(complaint([&] {
               curves(rows, {"needle", "mean", "loss"});
             }),
             ContainsSubstring("no measurement of needle mean loss"));
}

TEST_CASE("a study in progress says which runs are not whole and why", "[results][study]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  Study study;
  study.runs.resize(3);
  study.runs[0].id = "a", study.runs[0].stages = {"a0"};
  study.runs[1].id = "b", study.runs[1].stages = {"b0", "b1"};
  study.runs[2].id = "c", study.runs[2].stages = {"c0"};
  write(store, "a0", trained({1, 2, 3}));
  write(store, "b0", trained({1, 2, 3}));
  store.fail(*store.try_claim("b1"), "rotary width 66 exceeds head_dim 64");
  auto const claim = store.try_claim("c0");
  Group const file = assemble(study, store);
  CHECK(file.group("runs/a").attribute<std::string>("status") == "done");
  CHECK(file.group("runs/b").attribute<std::string>("status") == "failed");
  CHECK(file.group("runs/b").attribute<std::string>("message") == "rotary width 66 exceeds head_dim 64");
  CHECK(file.group("runs/b").has_array("train/loss"));
  CHECK(file.group("runs/c").attribute<std::string>("status") == "running");
  CHECK(table(file.group("summary/results")).empty());
  CHECK_FALSE(file.has_group("summary/curves"));
  store.publish(file);  // an empty study is a file too
}

TEST_CASE("records that contradict each other are not joined", "[results][study][errors]") {
  Group left = evaluated(row("rope", 11, 128, 2)), right = evaluated(row("rope", 11, 256, 3));
  right["eval"]["lm_loss"].put("mean", std::vector<float>{3}, "nat/token", "mean loss").along({"length"});
  left.groups.erase("results"), right.groups.erase("results");
  CHECK_THAT(complaint([&] { append(left, right); }),
             ContainsSubstring("mean is float32 [1] nat/token, expected rows of float64 [1] nat/token"));
  Group config, other;
  config.set("train.length", 256), other.set("train.length", 128);
  CHECK_THAT(complaint([&] { append(config, other); }),
             ContainsSubstring("attribute train.length is int64 256 in one stage, int64 128 in another"));
}

TEST_CASE("equal studies give equal numbers, and one changed bit is found by its place",
          "[results][study][determinism]") {
  Scratch const scratch;
  Store const one(scratch / "one"), two(scratch / "two");
  one.publish(assemble(study_in(one), one));
  Study again = study_in(two);
  again.provenance.started = "2026-11-29T20:13:00Z", again.provenance.command_line = "sextant run elsewhere";
  two.publish(assemble(again, two));
  CHECK(summary(compare_numbers(one.study_file(), two.study_file())) == "");

  Group changed = read_file(two.study_file());
  auto& loss = std::get<std::vector<float>>(
      changed.groups.find("runs")->groups.find("rope-11")->groups.find("train")->arrays.find("loss")->values);
  loss[1] = std::nextafter(loss[1], 9.0f);
  changed["runs"]["rope-23"].set("status", "failed");
  write_file(scratch / "changed.h5", changed);
  auto const found = compare_numbers(one.study_file(), scratch / "changed.h5");
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "runs/rope-11/train/loss[1]");
  CHECK(found[0].left == "4");
  CHECK(found[0].right == "4.00000048");
  CHECK(found[1].path == "runs/rope-23@status");
}

TEST_CASE("a stranger reads the study with h5py in three lines", "[results][study][h5py]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  store.publish(assemble(study_in(store), store));
  std::string const out = sextant::test::python("read_study.py", store.study_file());
  for (char const* const line :
       {"['study', 'run', 'seed', 'encoding', 'scaling', 'probe', 'length', 'region', 'metric', 'value', 'stderr', "
        "'n', "
        "'units']\n",
        "tiny nope-11 11 nope none lm_loss 128 mean loss 3.0 0.125 64 nat/token\n",
        "tiny rope-23 23 rope none lm_loss 256 mean loss 5.0 0.125 64 nat/token\n",
        "sextant-results/1 summary curves\n", "nope [4.0, 5.0] over length [128, 256] token\n",
        "['rope'] /summary/curves/length\n", "True {('gzip', 4, True, True)}\n", "True 64\n",
        "rope-11 done 11 {\"encoding\":\"rope\",\"scaling\":\"none\"} []\n", "False ['kjv']\n"})
    CHECK_THAT(out, ContainsSubstring(line));
}

TEST_CASE("the machine tells its processor, memory, system and time", "[results][provenance]") {
  Provenance const here = this_machine();
  CHECK_FALSE(here.cpu.empty());
  CHECK(here.memory > (1LL << 28));
  CHECK_THAT(here.os, ContainsSubstring("Linux"));
  CHECK(here.started.size() == std::string("2026-11-29T20:13:00Z").size());
  CHECK(here.libraries.at(0).name == "hdf5");
}

TEST_CASE("the source's commit and changes are recorded", "[results][provenance]") {
  if (sextant::test::shell("git --version").first != 0) SKIP("no git");
  Scratch const scratch;
  std::string const repository = (scratch / "it's here").string();
  auto const [status, out] = sextant::test::shell(sextant::text(
      "mkdir \"", repository, "\" && cd \"", repository, "\" && git init -q . && echo one > a && git add a && ",
      "git -c user.name=t -c user.email=t@t commit -qm one && echo two > a && git rev-parse HEAD"));
  REQUIRE(status == 0);
  Provenance provenance;
  add_source_state(provenance, repository);
  CHECK(provenance.commit + "\n" == out);
  CHECK(provenance.dirty);
  CHECK_THAT(provenance.diff, ContainsSubstring("-one\n+two\n"));
  Provenance none;
  add_source_state(none, scratch / "nowhere");
  CHECK(none.commit == "unknown");
}
