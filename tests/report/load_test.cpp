#include "study_file.hpp"
#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/report/load.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/study.hpp>

#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

using namespace sextant;
using Catch::Matchers::ContainsSubstring;

namespace {
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / text("sextant-report-test-", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(char const* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// The study file that the results room writes for one finished run, one failed and one that waits.
results::Group study_tree(fs::path const& folder) {
  results::Store const store(folder);
  results::Group record;
  record["config"].set("train.length", 256).set("train.rate", 0.002);
  record["train"].put("step", std::vector<std::int64_t>{1, 2}, "1", "step");
  record["train"].put("loss", std::vector<double>{5.5, 4.5}, "nat/byte", "loss");
  record["eval/lm_loss"].put("per_position_512", std::vector<float>{2.5F, 1.5F}, "nat/byte", "loss by position");
  record["eval/short_context"].put("length", std::vector<std::int64_t>{512}, "token", "length");
  record["eval/short_context"].put("seen", std::vector<std::int64_t>{256}, "token", "tokens seen");
  results::ResultRow row{"small", "r1", 11, "rope", "yarn", "lm_loss", 512, "mean", "loss", 1.25, 0.5, 64, "nat/byte"};
  results::ResultRow diverged = row;
  diverged.length = 1024;
  diverged.value = std::numeric_limits<double>::quiet_NaN();
  record["results"] = results::columns({row, diverged});
  store.write(*store.try_claim("s1"), record);
  store.fail(*store.try_claim("s2"), "loss became NaN at step 7");
  results::Study study;
  study.name = "small";
  study.title = "A small study";
  study.creator_version = "1.2";
  study.source = "study: small\n";
  study.resolved = "study: small # <all>\n";
  study.provenance.commit = "abc";
  study.provenance.plugins = {{"rope", "1", "abi", "ffff", "build tree", "arXiv:2104.09864"}};
  study.provenance.inputs = {{"kjv", "corpus", 4300000, "eeee", "public domain"}};
  study.runs = {{"r1", 11, "rope", "yarn", {}, {"r0"}, {"s1"}},
                {"r2", 12, "alibi", "none", {}, {}, {"s2"}},
                {"r3", 13, "nope", "none", {}, {}, {"s3"}}};
  return results::assemble(study, store);
}
}  // namespace

TEST_CASE("load_study reads back what the results room wrote", "[report][load]") {
  Folder const folder;
  results::write_file(folder / "study.h5", study_tree(folder / "store"));
  auto const study = report::load_study(folder / "study.h5");
  CHECK(study.name == "small");
  CHECK(study.title == "A small study");
  CHECK(study.creator == "sextant 1.2");
  CHECK(study.trained_length == 256);
  REQUIRE(study.rows.size() == 2);
  CHECK(study.rows[0].value == 1.25);
  CHECK(study.rows[0].error == 0.5);
  CHECK(study.rows[0].n == 64);
  CHECK(std::isnan(study.rows[1].value));
  REQUIRE(study.runs.size() == 3);
  CHECK(study.runs[0].parents == std::vector<std::string>{"r0"});
  CHECK(study.runs[0].train.loss == std::vector<double>{5.5, 4.5});
  CHECK(study.runs[0].train.loss_units == "nat/byte");
  REQUIRE(study.runs[0].positions.size() == 1);
  CHECK(study.runs[0].positions[0].length == 512);
  CHECK(study.runs[0].positions[0].loss == std::vector<double>{2.5, 1.5});
  CHECK(study.controls == std::vector<std::string>{"short_context"});
  CHECK(study.runs[1].status == "failed");
  CHECK(study.runs[1].message == "loss became NaN at step 7");
  CHECK(study.runs[2].status == "planned");
  CHECK(study.spec_resolved == "study: small # <all>\n");
  REQUIRE(study.plugins.size() == 1);
  CHECK(study.plugins[0].source == "arXiv:2104.09864");
  CHECK(study.inputs[0].bytes == 4300000);
}

TEST_CASE("an exported study keeps passkeys by depth and attention by head, along whichever axis comes first",
          "[report][load][export]") {
  Folder const folder;
  results::write_file(folder / "study.h5", test::study_file("kept"));
  auto const study = report::load_study(folder / "study.h5");
  REQUIRE(study.runs.size() == 4);
  auto const& run = study.runs[0];
  REQUIRE(run.depths.size() == 2);
  CHECK(run.depths[0].probe == "passkey");
  CHECK(run.depths[0].measure == "exact");
  CHECK(run.depths[0].length == std::vector<std::int64_t>{256, 1024});
  CHECK(run.depths[0].value == std::vector<double>{1, 0.5, 0.25, 0});
  CHECK(run.depths[1].probe == "needle");
  CHECK(run.depths[1].measure == "loss");
  CHECK(run.depths[1].value == std::vector<double>{1, 3, 5, 2, 4, 6});  // [length, depth] of [depth, length]
  REQUIRE(run.heads.size() == 3);
  CHECK(run.heads[0].measure == "entropy");
  CHECK(run.heads[0].layers == 3);
  CHECK(run.heads[0].heads == 2);
  CHECK(run.heads[0].value.size() == 12);
}

TEST_CASE("attributes of the root give question, tier, baseline, sources and trained length", "[report][load]") {
  Folder const folder;
  auto tree = study_tree(folder / "store");
  tree.set("question", "Why?").set("tier", "smoke").set("baseline", "alibi").set("trained_length", 128);
  tree.set("sources", std::vector<std::string>{"seed 000, line 145"});
  results::write_file(folder / "study.h5", tree);
  auto const study = report::load_study(folder / "study.h5");
  CHECK(study.question == "Why?");
  CHECK(study.tier == "smoke");
  CHECK(study.baseline == "alibi");
  CHECK(study.trained_length == 128);
  CHECK(study.sources == std::vector<std::string>{"seed 000, line 145"});
}

TEST_CASE("load_study refuses a file of another kind and names it", "[report][load]") {
  Folder const folder;
  results::Group other;
  other.set("schema", "weather/3");
  results::write_file(folder / "other.h5", other);
  CHECK_THROWS_WITH(report::load_study(folder / "other.h5"), ContainsSubstring("other.h5") &&
                                                                 ContainsSubstring("weather/3") &&
                                                                 ContainsSubstring("sextant-results/1"));
  CHECK_THROWS_WITH(report::load_study(folder / "absent.h5"), ContainsSubstring("absent.h5"));
}
