#include <sextant/results/compare.hpp>
#include <sextant/results/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "scratch.hpp"

using namespace sextant::results;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using sextant::test::complaint;
using sextant::test::Scratch;
using sextant::test::spill;

namespace {
std::vector<double> noise(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<double> out(count);
  for (double& x : out) x = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 2000) - 1050);
  return out;
}

// One array of every type, with the values that are easily lost.
Group everything() {
  using Limits = std::numeric_limits<double>;
  Group root;
  root.set("flag", true)
      .set("integer", std::numeric_limits<std::int64_t>::min())
      .set("number", 0.1)
      .set("text", "käse");
  root.set("nothing", "").set("integers", std::vector<int>{3, -4}).set("numbers", std::vector<double>{0.1, -0.0});
  root.set("texts", std::vector<std::string>{"a", "", "ü"}).set("none", std::vector<double>{});
  Group& a = root["arrays"];
  a.put("float64", std::vector<double>{0.1, -0.0, Limits::denorm_min(), Limits::max(), Limits::infinity()}, "1",
        "doubles");
  a.put("float32", std::vector<float>{0.1f, -0.0f, std::numeric_limits<float>::denorm_min()}, "nat", "floats");
  a.put("int64", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -1}, "1", "int64");
  a.put("int32", std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 7}, "1", "int32");
  a.put("int8", std::vector<std::int8_t>{-128, 127}, "1", "int8");
  a.put("uint8", std::vector<std::uint8_t>{0, 255}, "1", "uint8");
  a.put("boolean", std::vector<bool>{true, false, true}, "1", "flags");
  a.put("text", std::vector<std::string>{"", "one", "日本語"}, "words");
  a.put("large", {300, 7, 11}, noise(300 * 7 * 11), "1", "more than one chunk");
  a.put("wide", {2, 40000}, noise(80000), "1", "rows longer than a chunk");
  a.put("empty", {0, 3}, std::vector<double>{}, "1", "no rows");
  a.put("single", {}, std::vector<double>{2.5}, "s", "one number");
  Group& b = root["eval"]["lm_loss"];
  b.put("length", std::vector<std::int64_t>{128, 256}, "token", "tokens in the window");
  b.put("depth", std::vector<double>{0, 0.5, 1}, "1", "place in the window");
  b.put("correct", {2, 3}, std::vector<float>(6, 0.5f), "1", "share found").along({"length", "depth"});
  b.put("mean", std::vector<double>{3, 4}, "nat/token", "loss").along({"length"});
  b.plot("correct", {"length", "depth"});
  return root;
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(sextant::fs::directory_iterator("/proc/self/fd"), {}));
}
}  // namespace

TEST_CASE("every type, shape and attribute survives the file bit for bit", "[results]") {
  Scratch const scratch;
  Group const root = everything();
  write_file(scratch / "all.h5", root);
  Group const back = read_file(scratch / "all.h5");
  CHECK(summary(differences(root, back)) == "");
  CHECK(back.group("arrays").arrays.names() == root.group("arrays").arrays.names());  // the order too
  CHECK(back.where == (scratch / "all.h5").string() + ":/");
}

TEST_CASE("equal trees give equal files, byte for byte", "[results][determinism]") {
  Scratch const scratch;
  write_file(scratch / "a.h5", everything());
  write_file(scratch / "b.h5", read_file(scratch / "a.h5"));
  std::string const a = sextant::read_file(scratch / "a.h5"), b = sextant::read_file(scratch / "b.h5");
  CHECK(a.size() == b.size());
  CHECK(a == b);
}

TEST_CASE("one group or the names in it can be read alone", "[results]") {
  Scratch const scratch;
  write_file(scratch / "all.h5", everything());
  Group const loss = read_group(scratch / "all.h5", "eval/lm_loss");
  CHECK(loss.values<double>("mean") == std::vector<double>{3, 4});
  CHECK_THAT(complaint([&] { loss.array("median"); }), ContainsSubstring("all.h5:/eval/lm_loss: no array median"));
  CHECK(list(scratch / "all.h5") == std::vector<std::string>{"arrays", "eval"});
  CHECK(list(scratch / "all.h5", "/eval/lm_loss/") == std::vector<std::string>{"length", "depth", "correct", "mean"});
  CHECK_THAT(complaint([&] { read_group(scratch / "all.h5", "eval/lmloss"); }),
             EndsWith("all.h5:/eval: no group lmloss; did you mean lm_loss?"));
  CHECK_THAT(complaint([&] { read_group(scratch / "all.h5", "eval/lm_loss/mean"); }),
             EndsWith("all.h5:/eval/lm_loss/mean is an array, expected a group"));
}

TEST_CASE("a spec of 70000 bytes, and one of 65000, come back byte for byte", "[results][reports]") {
  Scratch const scratch;
  for (std::size_t const size : {65000u, 70000u, 1000000u}) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = "sextant: 1\n# é\t"[i % 16 == 15 ? 0 : i % 16];
    Group root;
    root["spec"].put("source", text, "the spec");
    root.set("as_attribute", text);
    write_file(scratch / "spec.h5", root);
    Group const back = read_file(scratch / "spec.h5");
    CHECK(back.text("spec/source") == text);
    CHECK(back.attribute<std::string>("as_attribute") == text);
  }
}

TEST_CASE("NaN keeps its bits and gets a reason", "[results]") {
  Scratch const scratch;
  Group root;
  root.put("a", std::vector<double>{1, std::nan("0x123")}, "1", "given").reason("the run diverged");
  root.put("b", std::vector<float>{NAN}, "1", "not given");
  root.put("c", std::vector<float>{1}, "1", "a number");
  write_file(scratch / "nan.h5", root);
  Group const back = read_file(scratch / "nan.h5");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &back.values<double>("a")[1], sizeof bits);
  CHECK((bits & 0xfff) == 0x123);
  CHECK(std::get<std::string>(back.array("a").attributes.at("reason")) == "the run diverged");
  CHECK(std::get<std::string>(back.array("b").attributes.at("reason")) == "not a number when it was computed");
  CHECK_FALSE(back.array("c").attributes.contains("reason"));
}

TEST_CASE("what HDF5 cannot keep is refused before anything is written", "[results][errors]") {
  Scratch const scratch;
  auto const refused = [&](Group const& root) { return complaint([&] { write_file(scratch / "x.h5", root); }); };
  Group root;
  root.put("t", std::string("a\0b", 3), "text");
  CHECK_THAT(refused(root), EndsWith("x.h5:/t: a text holds a NUL at byte 1, which HDF5 cannot keep"));
  root = Group();
  root["g"].put("loss", std::vector<double>{1, 2}, "nat", "loss").along({"step"});
  CHECK_THAT(refused(root), ContainsSubstring("no array step"));
  root["g"].put("step", std::vector<double>{1, 2, 3}, "1", "step");
  CHECK_THAT(refused(root), EndsWith("x.h5:/g/step is float64 [3], expected [2] as an axis of loss [2]"));
  CHECK(sextant::fs::is_empty(scratch / ""));
}

TEST_CASE("a file that is missing, empty, a folder or no HDF5 is named with the reason", "[results][errors]") {
  Scratch const scratch;
  spill(scratch / "empty.h5", "");
  spill(scratch / "notes.txt", "these are not the numbers you are looking for\n");
  CHECK_THAT(complaint([&] { read_file(scratch / "none.h5"); }), EndsWith("none.h5: no such file"));
  CHECK_THAT(complaint([&] { read_file(scratch / "empty.h5"); }),
             EndsWith("empty.h5: is empty, expected an HDF5 file"));
  CHECK_THAT(complaint([&] { read_file(scratch / ""); }), EndsWith("is a directory, expected an HDF5 file"));
  CHECK_THAT(complaint([&] { read_file(scratch / "notes.txt"); }), ContainsSubstring("notes.txt: is not an HDF5 file"));
}

TEST_CASE("a file cut short anywhere is named and never read as if it were whole", "[results][errors][reports]") {
  Scratch const scratch;
  write_file(scratch / "all.h5", everything());
  std::string const whole = sextant::read_file(scratch / "all.h5");
  for (std::size_t const keep : {std::size_t{1}, std::size_t{8}, std::size_t{100}, std::size_t{1000}, whole.size() / 2,
                                 whole.size() - 1000, whole.size() - 1}) {
    spill(scratch / "torn.h5", whole.substr(0, keep));
    INFO("of " << whole.size() << " bytes " << keep);
    CHECK_THAT(complaint([&] { read_file(scratch / "torn.h5"); }), ContainsSubstring("torn.h5: "));
  }
  spill(scratch / "torn.h5", whole.substr(0, whole.size() - 1));
  CHECK_THAT(complaint([&] { read_file(scratch / "torn.h5"); }), ContainsSubstring("is cut short"));
}

TEST_CASE("a flipped bit in the numbers is found by the checksum and the array is named", "[results][errors]") {
  Scratch const scratch;
  Group root;
  root["train"].put("loss", noise(100000), "nat", "loss");
  write_file(scratch / "flip.h5", root);
  std::string bytes = sextant::read_file(scratch / "flip.h5");
  bytes[bytes.size() / 2] ^= 4;
  spill(scratch / "flip.h5", bytes);
  CHECK_THAT(complaint([&] { read_file(scratch / "flip.h5"); }),
             ContainsSubstring("flip.h5:/train/loss cannot be read"));
}

TEST_CASE("a locked file says so, names the setting, and does not stop a new result", "[results][errors][reports]") {
  Scratch const scratch;
  ::unsetenv("HDF5_USE_FILE_LOCKING");
  Group root;
  root.set("version", 1);
  write_file(scratch / "held.h5", root);
  int const other = ::open((scratch / "held.h5").c_str(), O_RDWR);  // as another program's HDF5 does it
  REQUIRE(::flock(other, LOCK_EX) == 0);
  CHECK_THAT(
      complaint([&] { read_file(scratch / "held.h5"); }),
      ContainsSubstring("held.h5: another program holds it") && ContainsSubstring("HDF5_USE_FILE_LOCKING=FALSE"));
  root.set("version", 2);
  write_file(scratch / "held.h5", root);  // the new file takes the name; the other program keeps the old one
  CHECK(read_file(scratch / "held.h5").attribute<int>("version") == 2);
  ::close(other);
}

TEST_CASE("when the disk refuses more bytes the old file stays", "[results][errors][reports]") {
  Scratch const scratch;
  Group small, large;
  small.set("version", 1);
  large.put("x", noise(200000), "1", "more than the limit");
  write_file(scratch / "result.h5", small);
  pid_t const child = ::fork();
  if (child == 0) {
    rlimit const limit{100000, 100000};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file(scratch / "result.h5", large);
    } catch (sextant::Error const& error) {
      ::_exit(std::strstr(error.what(), "result.h5: cannot write: File too large") ? 0 : 2);
    }
    ::_exit(1);
  }
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  CHECK(WEXITSTATUS(state) == 0);
  CHECK(read_file(scratch / "result.h5").attribute<int>("version") == 1);
  CHECK(std::distance(sextant::fs::directory_iterator(scratch / ""), {}) == 1);  // nothing left aside
}

TEST_CASE("no file stays open after reading, writing or failing", "[results]") {
  Scratch const scratch;
  write_file(scratch / "all.h5", everything());
  read_file(scratch / "all.h5");
  std::string const whole = sextant::read_file(scratch / "all.h5");
  std::size_t const before = open_files();
  for (int i = 0; i < 20; ++i) {
    write_file(scratch / "all.h5", read_file(scratch / "all.h5"));
    complaint([&] { read_group(scratch / "all.h5", "nothing"); });
    spill(scratch / "torn.h5", whole.substr(0, whole.size() / 2));
    complaint([&] { read_file(scratch / "torn.h5"); });
  }
  CHECK(open_files() == before);
}

TEST_CASE("threads may read and write at the same time", "[results]") {
  Scratch const scratch;
  Group const root = everything();
  std::vector<std::size_t> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        auto const path = scratch / (std::to_string(t) + ".h5");
        write_file(path, root);
        wrong[t] += differences(root, read_file(path)).size();
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::size_t>(4, 0));
}
