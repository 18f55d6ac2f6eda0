// A stored study run again, exported and shown in a gallery, through the program.
#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>
#include <sextant/report/load.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/rerun.hpp>
#include <sextant/results/table.hpp>

#include "support/holds.hpp"
#include "tiny_study.hpp"

using namespace sextant;
using test::holds;

namespace {
std::string const one_claim =
    "claims:\n  list:\n"
    "    - {id: learned, says: It learns, source: 'article 000, 16', test: 'lm_loss.mean @ 16 {encoding=fox} < 6'}\n";
}  // namespace

TEST_CASE("rerun: the stored spec gives the same bits from the file alone, and a number that was altered is named",
          "[run][rerun]") {
  test::TempFolder const folder;
  fs::path const spec = test::write_tiny_study(folder, 12);
  std::string const first = (folder / "first").string(), again = (folder / "again").string();
  REQUIRE(test::sextant_program({"run", spec.string(), "-o", first}).status == 0);
  fs::path const kept = folder / "kept" / "study.h5";
  REQUIRE(test::sextant_program({"export", first, "-o", kept.string()}).status == 0);
  fs::remove(spec);

  auto const same = test::sextant_program({"rerun", kept.string(), "-o", again, "--strict", "--quiet"});
  INFO(same.output);
  REQUIRE(same.status == 0);
  std::size_t const rows = results::table(results::read_group(kept, "summary/results")).size();
  std::size_t trained = 0;
  auto study = results::read_file(kept);
  for (auto const& [id, run] : study.group("runs").groups) trained += run.has_array("train/loss");
  REQUIRE(trained > 0);
  std::string const all = std::to_string(rows + trained);
  CHECK(holds(same.output, "of " + all + " numbers and curves, " + all + " the same to the bit"));
  CHECK(!holds(same.output, "what ran them differs"));

  auto altered = results::table(study.group("summary/results"));
  altered[1].value += 1e-9;
  study["summary"]["results"] = results::columns(altered);
  study["provenance"].set("compiler", "another one");
  fs::path const other = folder / "other.h5";
  results::write_file(other, study);
  auto const differs = test::sextant_program({"rerun", other.string(), "-o", again, "--strict", "--quiet", "--json"});
  INFO(differs.output);
  CHECK(differs.status == 4);
  auto const json = nlohmann::json::parse(differs.output.substr(differs.output.find("{\n")));
  REQUIRE(json["different"].size() == 1);
  CHECK(holds(json["different"][0]["what"], altered[1].encoding));
  CHECK(json["origin"][0]["before"] == "text \"another one\"");
  CHECK(test::sextant_program({"rerun", other.string(), "-o", again, "--quiet"}).status == 0);
}

TEST_CASE("rerun: what holds no spec, a folder of another study and the study's own folder are refused",
          "[run][rerun][reject]") {
  test::TempFolder const folder;
  fs::path const spec = test::write_tiny_study(folder, 4);
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", spec.string(), "-o", out}).status == 0);
  auto const own = test::sextant_program({"rerun", out, "-o", out});
  CHECK(own.status == 2);
  CHECK(holds(own.output, "is the study itself, expected another folder"));
  fs::create_directories(folder / "taken");
  write_file_atomically(folder / "taken" / "spec.yaml", "sextant: 1\nstudy: another\n");
  auto const taken = test::sextant_program({"rerun", out, "-o", (folder / "taken").string()});
  CHECK(taken.status == 2);
  CHECK(holds(taken.output, "holds another spec"));
  auto study = results::read_file(fs::path(out) / "study.h5");
  study.groups.erase("spec");
  results::write_file(folder / "bare.h5", study);
  auto const bare = test::sextant_program({"rerun", (folder / "bare.h5").string()});
  CHECK(bare.status == 2);
  CHECK(holds(bare.output, "holds no spec that `run` reads"));
}

TEST_CASE("export: an exported study keeps every number, table and verdict, and drops the rest of training",
          "[run][export]") {
  test::TempFolder const folder;
  fs::path const spec = test::write_tiny_study(folder, 12);
  write_file_atomically(spec, read_file(spec) + one_claim);
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", spec.string(), "-o", out}).status == 0);
  fs::path const whole = fs::path(out) / "study.h5", kept = folder / "kept.h5";
  REQUIRE(test::sextant_program({"export", out, "-o", kept.string()}).status == 0);
  auto const a = results::read_file(whole), b = results::read_file(kept);
  CHECK(results::differences(results::numbers_of(a), results::numbers_of(b)).empty());
  CHECK(results::differences(a.group("summary"), b.group("summary")).empty());
  CHECK(results::differences(results::origin_of(a), results::origin_of(b)).empty());
  auto const& provenance = b.group("provenance");
  CHECK(provenance.texts("plugins/origin") == std::vector<std::string>{"alibi.so", "fox.so", "rope.so"});
  CHECK(provenance.attribute<std::string>("command_line") == "sextant run spec.yaml -o out");
  for (auto const& [id, run] : b.group("runs").groups) CHECK_FALSE(run.has_array("train/gradient_norm"));
  CHECK(fs::file_size(kept) < fs::file_size(whole));
  CHECK(test::sextant_program({"check", kept.string(), "--json"}).output ==
        test::sextant_program({"check", out, "--json"}).output);
  CHECK(test::sextant_program({"export", out, "-o", whole.string()}).status == 2);
}

TEST_CASE("gallery: every study of a folder is shown with its claims, and equal studies give equal files",
          "[run][gallery]") {
  test::TempFolder const folder;
  fs::path const spec = test::write_tiny_study(folder, 12);
  write_file_atomically(spec, read_file(spec) + one_claim);
  std::string const out = (folder / "studies" / "tiny").string();
  REQUIRE(test::sextant_program({"run", spec.string(), "-o", out}).status == 0);
  auto const once =
      test::sextant_program({"gallery", (folder / "studies").string(), "-o", (folder / "shown").string()});
  INFO(once.output);
  REQUIRE(once.status == 0);
  std::string const name = report::load_study(fs::path(out) / "study.h5").name;
  std::string const index = read_file(folder / "shown" / "index.html"),
                    readme = read_file(folder / "shown" / "README.md");
  CHECK(holds(index, "article 000, 16"));
  CHECK(holds(index, "href=\"" + name + ".html\""));
  CHECK(holds(readme, "| article 000, 16 | It learns | holds |"));
  CHECK(holds(readme, "](../studies/tiny)"));
  CHECK(fs::exists(folder / "shown" / (name + ".html")));
  CHECK(fs::exists(folder / "shown" / (name + ".svg")));
  REQUIRE(test::sextant_program({"gallery", out, "-o", (folder / "again").string()}).status == 0);
  for (std::string const& file : {std::string("index.html"), name + ".html", name + ".svg"})
    CHECK(read_file(folder / "shown" / file) == read_file(folder / "again" / file));
  auto const twice = test::sextant_program({"gallery", out, out, "-o", (folder / "twice").string()});
  CHECK(twice.status == 2);
  CHECK(holds(twice.output, "expected a name of its own"));
  CHECK(test::sextant_program({"gallery", folder.path().string() + "/shown"}).status == 2);
}
