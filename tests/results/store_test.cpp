#include <sextant/results/store.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "scratch.hpp"

using namespace sextant::results;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using sextant::test::complaint;
using sextant::test::Scratch;

namespace {
// A record whose numbers can be checked against each other.
Group record(std::int64_t k) {
  Group out;
  out.set("k", k);
  out.put("x", std::vector<std::int64_t>(60000, k), "1", "the same number over and over");
  return out;
}

bool whole(Group const& group) {
  auto const k = group.attribute<std::int64_t>("k");
  for (std::int64_t const x : group.values<std::int64_t>("x", {60000}))
    if (x != k) return false;
  return true;
}

// Runs the body in a process of its own; 0 when it returns, 1 when it throws.
template <class Body>
pid_t apart(Body const& body) {
  pid_t const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a failing test leaves no writer behind
    int status = 1;
    try {
      body();
      status = 0;
    } catch (std::exception const&) {
    }
    ::_exit(status);
  }
  return child;
}

int wait_for(pid_t child) {
  int state = 0;
  ::waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

std::size_t files_aside(sextant::fs::path const& folder) {
  std::size_t count = 0;
  for (auto const& entry : sextant::fs::recursive_directory_iterator(folder))
    count += entry.path().extension() == ".tmp";
  return count;
}
}  // namespace

TEST_CASE("a stage is planned, then running, then done, and its record stays", "[results][store]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  CHECK(store.status("ab12") == "planned");
  CHECK(store.list().empty());
  CHECK_FALSE(sextant::fs::exists(scratch / "study"));  // looking makes nothing
  {
    auto const claim = store.try_claim("ab12");
    REQUIRE(claim);
    CHECK(store.status("ab12") == "running");
    CHECK_FALSE(store.try_claim("ab12"));  // not twice, not even in one process
    store.write(*claim, record(1));
    CHECK(store.done("ab12"));
    CHECK_THAT(complaint([&] { store.write(*claim, record(2)); }),
               EndsWith("ab12/record.h5: this stage is done, its record stays as it is"));
  }
  CHECK(store.status("ab12") == "done");
  CHECK_FALSE(store.try_claim("ab12"));
  CHECK(store.read("ab12").attribute<int>("k") == 1);
  CHECK(store.list() == std::vector<std::string>{"ab12"});
}

TEST_CASE("a failed stage keeps its message and is tried again", "[results][store]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  store.fail(*store.try_claim("ab12"), "loss is NaN at step 17");
  CHECK(store.status("ab12") == "failed");
  CHECK(store.failure("ab12") == "loss is NaN at step 17");
  CHECK(store.list().empty());
  auto const claim = store.try_claim("ab12");
  REQUIRE(claim);
  store.write(*claim, record(1));
  CHECK(store.status("ab12") == "done");
  CHECK_FALSE(store.failure("ab12"));
}

TEST_CASE("an id that would leave the folder is refused", "[results][store][errors]") {
  Store const store("study");
  for (std::string const id : {"", "../x", "a/b", ".", "a b"})
    CHECK_THAT(complaint([&] { store.try_claim(id); }), EndsWith("must be letters, digits, - and _ only"));
}

TEST_CASE("runners in several processes and threads never work on the same stage", "[results][store][reports]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  int const stages = 40;
  auto const runner = [&] {
    for (int left = stages; left > 0;) {
      left = 0;
      for (int i = 0; i < stages; ++i) {
        std::string const id = sextant::text("stage", i);
        left += !store.done(id);
        auto const claim = store.try_claim(id);
        if (!claim) continue;
        int const mark = ::open((claim->folder() / "working").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
        sextant::expect(mark >= 0, "two at work on ", id);
        ::close(mark);
        int const log = ::open((scratch / "log").c_str(), O_CREAT | O_APPEND | O_WRONLY, 0600);
        std::string const line = id + "\n";
        sextant::expect(::write(log, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "log");
        ::close(log);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        sextant::fs::remove(claim->folder() / "working");
        store.write(*claim, record(i));
      }
    }
  };
  auto const with_threads = [&] {
    std::string failed;
    std::thread other([&] {
      try {
        runner();
      } catch (std::exception const& error) {
        failed = error.what();
      }
    });
    runner();
    other.join();
    sextant::expect(failed.empty(), failed);
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) children.push_back(apart(with_threads));
  for (pid_t const child : children) CHECK(wait_for(child) == 0);

  std::map<std::string, int> worked;
  std::istringstream log(sextant::read_file(scratch / "log"));
  for (std::string id; std::getline(log, id);) ++worked[id];
  CHECK(worked.size() == stages);
  for (auto const& [id, times] : worked) CHECK(times == 1);
  CHECK(store.list().size() == stages);
}

TEST_CASE("a runner killed at any moment leaves whole records, no lock and nothing in the way",
          "[results][store][reports]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  std::size_t left_aside = 0;
  for (int round = 0; round < 20; ++round) {
    pid_t const child = apart([&] {
      for (int i = 0;; ++i)
        if (auto const claim = store.try_claim(sextant::text("r", round, "-", i))) {
          store.write(*claim, record(i));
          store.publish(record(i));
        }
    });
    while (!store.done(sextant::text("r", round, "-0"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
    ::kill(child, SIGKILL);
    CHECK(wait_for(child) == -1);
    left_aside += files_aside(scratch / "study");
  }
  auto const done = store.list();
  CHECK(done.size() >= 20);
  for (auto const& id : done) CHECK(whole(store.read(id)));
  CHECK(whole(read_file(store.study_file())));

  // The next runner takes up what was left, and clears what lies aside.
  for (auto const& entry : sextant::fs::directory_iterator(scratch / "study" / "stages")) {
    std::string const id = entry.path().filename().string();
    if (store.done(id)) continue;
    CHECK(store.status(id) == "planned");
    auto const claim = store.try_claim(id);
    REQUIRE(claim);
    store.write(*claim, record(5));
  }
  store.publish(record(6));
  INFO("killed writers left " << left_aside << " files aside");
  CHECK(files_aside(scratch / "study") == 0);
  CHECK(store.list().size() > done.size());
}

TEST_CASE("a reader of the study file sees one version or another, never half", "[results][store]") {
  Scratch const scratch;
  Store const store(scratch / "study");
  store.publish(record(0));
  pid_t const writer = apart([&] {
    for (int i = 1;; ++i) store.publish(record(i));
  });
  std::set<std::int64_t> versions;
  for (int reads = 0; versions.size() < 10 && reads < 100000; ++reads) {
    Group const seen = read_file(store.study_file());
    REQUIRE(whole(seen));
    versions.insert(seen.attribute<std::int64_t>("k"));
  }
  ::kill(writer, SIGKILL);
  wait_for(writer);
  CHECK(versions.size() == 10);
}
