// A file seen in memory without being read whole.
#pragma once
#include <sextant/base/file.hpp>

#include <memory>

namespace sextant {

/// Read-only; pages come from the file as they are touched. The file must not be cut short while it is mapped.
class MappedFile {
 public:
  /// Throws Error naming the path and the system's reason. An empty file maps to no bytes.
  explicit MappedFile(fs::path const& path);
  ~MappedFile();
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;

  fs::path const& path() const { return path_; }
  std::string_view bytes() const;

 private:
  struct Region;
  fs::path path_;
  std::unique_ptr<Region> region_;
};

}  // namespace sextant
