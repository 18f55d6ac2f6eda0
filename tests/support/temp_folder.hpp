// A folder that a test may fill.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>

#include <stdlib.h>

#include <string>

namespace sextant::test {

/// A folder of its own that goes with its owner.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "sextant-test-XXXXXX").string();
    expect(::mkdtemp(pattern.data()) != nullptr, "cannot make a temporary folder");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFolder(TempFolder const&) = delete;
  TempFolder& operator=(TempFolder const&) = delete;
  fs::path operator/(std::string const& name) const { return path_ / name; }
  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace sextant::test
