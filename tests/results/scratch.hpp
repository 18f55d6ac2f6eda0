// A folder that a test may fill, and the message of an Error that it expects.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>

#include <unistd.h>
#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <fstream>
#include <string>

namespace sextant::test {

class Scratch {
 public:
  Scratch() {
    static std::atomic<int> count{0};
    folder_ = fs::temp_directory_path() / text("sextant-results-", ::getpid(), "-", count++);
    fs::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;
  fs::path operator/(std::string const& name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

inline void spill(fs::path const& path, std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// What the call complains about; fails the test when it does not.
template <class Call>
std::string complaint(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  FAIL("expected an Error");
  return "";
}

}  // namespace sextant::test
