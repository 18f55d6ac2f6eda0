#include <catch2/catch_test_macros.hpp>
#include <sextant/results/compare.hpp>

#include "tiny_study.hpp"

using namespace sextant;

namespace {
/// Empty when both files hold the same numbers, bit for bit.
std::string differences_of(fs::path const& left, fs::path const& right) {
  return results::summary(results::compare_numbers(left, right));
}
std::string differences(fs::path const& left, fs::path const& right) {
  return differences_of(left / "study.h5", right / "study.h5");
}
}  // namespace

TEST_CASE("run: killed at ten random moments and resumed, a study ends with the same bits as one left alone",
          "[run][resume]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 400).string();
  auto const began = std::chrono::steady_clock::now();
  auto const whole = test::sextant_program({"run", spec, "-o", (folder / "whole").string()});
  REQUIRE(whole.status == 0);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  int killed = 0;
  Stream const moments(17, "kill");
  for (int n = 0; n < 10; ++n) {
    test::Program program({"run", spec, "-o", (folder / "killed").string()});
    std::this_thread::sleep_for(
        std::chrono::duration<double>(seconds * 0.35 * moments.uniform(static_cast<std::uint64_t>(n))));
    program.kill(SIGKILL);
    killed += program.wait().status == 128 + SIGKILL;
  }
  CHECK(killed >= 5);  // some may have ended by themselves; most must have been cut off
  auto const last = test::sextant_program({"run", spec, "-o", (folder / "killed").string()});
  INFO(last.output);
  REQUIRE(last.status == 0);
  CHECK(differences(folder / "whole", folder / "killed") == "");
}

TEST_CASE("run: Ctrl-C keeps the checkpoint, and the same command goes on from it", "[run][resume]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 3000).string();
  std::string const out = (folder / "out").string();
  test::Program program({"run", spec, "-o", out});
  for (int n = 0; n < 2000 && !fs::exists(fs::path(out) / "stages"); ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.kill(SIGINT);
  auto const stopped = program.wait();
  INFO(stopped.output);
  CHECK(stopped.status == 130);
  CHECK(stopped.output.find("the same command goes on from here") != std::string::npos);
  auto const status = test::sextant_program({"status", out, "--json"});
  CHECK(status.status == 0);
  CHECK(status.output.find("\"planned\"") != std::string::npos);
}

TEST_CASE("run: a finished study is not done again", "[run]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 20).string();
  std::vector<std::string> const command{"run", spec, "-o", (folder / "out").string()};
  auto const first = test::sextant_program(command);
  REQUIRE(first.status == 0);
  CHECK(first.output.find("12 of 12 stages done now, 0 found done") != std::string::npos);
  std::string const before = read_file((folder / "out") / "study.h5");
  auto const second = test::sextant_program(command);
  REQUIRE(second.status == 0);
  CHECK(second.output.find("0 of 12 stages done now, 12 found done") != std::string::npos);
  CHECK(read_file((folder / "out") / "study.h5") == before);
}

TEST_CASE("run: --reuse takes over what another study has finished, with the same bits, and nothing else",
          "[run][reuse]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 20).string();
  std::string const first = (folder / "first").string(), second = (folder / "second").string();
  REQUIRE(test::sextant_program({"run", spec, "-o", first}).status == 0);

  auto const taken = test::sextant_program({"run", spec, "-o", second, "--reuse", first});
  INFO(taken.output);
  REQUIRE(taken.status == 0);
  CHECK(taken.output.find("0 of 12 stages done now, 0 found done, 12 taken from other studies") != std::string::npos);
  CHECK(differences(folder / "first", folder / "second") == "");
  // the weights came along: what first has not measured can be measured
  auto const more = test::sextant_program(
      {"run", spec, "-o", (folder / "more").string(), "--reuse", first, "--set", "evaluate.lm_loss.lengths=[16, 24]"});
  INFO(more.output);
  CHECK(more.status == 0);
  CHECK(more.output.find("taken from other studies") != std::string::npos);
  // another training is another stage
  auto const longer = test::sextant_program(
      {"run", spec, "-o", (folder / "longer").string(), "--reuse", first, "--set", "train.steps=21"});
  CHECK(longer.status == 0);
  CHECK(longer.output.find("12 of 12 stages done now, 0 found done\n") != std::string::npos);
}

TEST_CASE("run: --reuse of a folder without a study, or with a broken record, is refused by name", "[run][reuse]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 4).string();
  fs::path const first = folder / "first";
  auto const absent = test::sextant_program({"run", spec, "-o", first.string(), "--reuse", (folder / "none").string()});
  CHECK(absent.status == 2);
  CHECK(absent.output.find("none") != std::string::npos);
  REQUIRE(test::sextant_program({"run", spec, "-o", first.string()}).status == 0);
  for (auto const& stage : fs::directory_iterator(first / "stages"))
    write_file_atomically(stage.path() / "record.h5", "no HDF5");
  auto const broken =
      test::sextant_program({"run", spec, "-o", (folder / "second").string(), "--reuse", first.string()});
  INFO(broken.output);
  CHECK(broken.status == 2);
  CHECK(broken.output.find("record.h5") != std::string::npos);
}

TEST_CASE("run: one thread and two give the same bits", "[run][threads]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 40).string();
  for (std::string const threads : {"1", "2"})
    REQUIRE(test::sextant_program({"run", spec, "--threads", threads, "-o", (folder / threads).string()}).status == 0);
  CHECK(differences(folder / "1", folder / "2") == "");
}

TEST_CASE("run: two processes on one folder share the work and end with the bits of one", "[run][locks]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 200).string();
  REQUIRE(test::sextant_program({"run", spec, "-o", (folder / "alone").string()}).status == 0);
  std::string const shared = (folder / "shared").string();
  test::Program one({"run", spec, "-o", shared}), two({"run", spec, "-o", shared});
  auto const first = one.wait(), second = two.wait();
  INFO(first.output << second.output);
  CHECK(first.status == 0);
  CHECK(second.status == 0);
  CHECK(differences(folder / "alone", folder / "shared") == "");
}

TEST_CASE("run: another spec does not take over a study's folder", "[run]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", spec, "-o", out}).status == 0);
  auto const other = test::sextant_program({"run", spec, "-o", out, "--set", "study=other"});
  CHECK(other.status == 2);
  CHECK(other.output.find("holds another study") != std::string::npos);
}

TEST_CASE("run: a changed value trains anew and keeps the earlier study file; seed 0 is a seed", "[run]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", spec, "-o", out}).status == 0);
  auto const changed =
      test::sextant_program({"run", spec, "-o", out, "--set", "train.seeds=[0]", "--set", "train.steps=6"});
  INFO(changed.output);
  REQUIRE(changed.status == 0);
  CHECK(changed.output.find("6 of 6 stages done now") != std::string::npos);
  int old = 0;
  for (auto const& file : fs::directory_iterator(out)) old += file.path().filename().string().starts_with("study-");
  CHECK(old == 1);
  auto const narrowed = test::sextant_program({"run", spec, "-o", out, "--set", "train.seeds=[0]"});
  CHECK(narrowed.output.find("0 of 6 stages done now, 6 found done") != std::string::npos);
}

TEST_CASE("run: a text named by a relative path lies beside the spec, wherever the program is started", "[run]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  std::string const out = (folder / "out").string();
  std::string const named = "data.corpus=" + (folder / "text.txt").string();
  std::string relative = read_file(spec);
  relative.replace(relative.find((folder / "text.txt").string()), (folder / "text.txt").string().size(), "text.txt");
  write_file_atomically(folder / "relative.yaml", relative);
  auto const ran = test::sextant_program({"run", (folder / "relative.yaml").string(), "-o", out});
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  auto const status = test::sextant_program({"status", out});
  CHECK(status.output.find("12 of 12 stages done") != std::string::npos);
  auto const again = test::sextant_program({"run", spec, "-o", out, "--set", named});
  CHECK(again.output.find("12 found done") != std::string::npos);
}

TEST_CASE("run: a study file that no longer shows what is done is made anew", "[run]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  std::vector<std::string> const command{"run", spec, "-o", (folder / "out").string()};
  REQUIRE(test::sextant_program(command).status == 0);
  std::string const first = test::made_up_text(4000);
  write_file_atomically(folder / "first.h5", read_file((folder / "out") / "study.h5"));
  write_file_atomically(folder / "text.txt", first + "more words that change every batch ");
  REQUIRE(test::sextant_program(command).status == 0);
  CHECK_FALSE(differences_of(folder / "first.h5", (folder / "out") / "study.h5").empty());
  write_file_atomically(folder / "text.txt", first);
  auto const back = test::sextant_program(command);
  INFO(back.output);
  CHECK(back.output.find("12 found done") != std::string::npos);
  CHECK(differences_of(folder / "first.h5", (folder / "out") / "study.h5").empty());
}

TEST_CASE("run: a refused run leaves the study as it was", "[run][reject]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  std::string const out = (folder / "out").string();
  REQUIRE(test::sextant_program({"run", spec, "-o", out}).status == 0);
  std::string const study = read_file((folder / "out") / "study.h5"), kept = read_file((folder / "out") / "spec.yaml");
  CHECK(test::sextant_program({"run", spec, "-o", out, "--only", "foxx"}).status == 2);
  CHECK(
      test::sextant_program({"run", spec, "-o", out, "--set", "train.steps=9", "--set", "budget.memory=1KiB"}).status ==
      2);
  CHECK(read_file((folder / "out") / "study.h5") == study);
  CHECK(read_file((folder / "out") / "spec.yaml") == kept);
}
