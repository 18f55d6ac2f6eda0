// GGUF files written by hand, so that every byte of them can be wrong.
#pragma once
#include <sextant/base/file.hpp>

#include <unistd.h>

#include <cstring>
#include <string>

namespace sextant::test {

struct Bytes {
  std::string content;
  template <class T>
  Bytes& put(T value) {
    content.append(reinterpret_cast<char const*>(&value), sizeof value);
    return *this;
  }
  Bytes& u32(std::uint32_t value) { return put(value); }
  Bytes& u64(std::uint64_t value) { return put(value); }
  Bytes& text(std::string const& value) {
    u64(value.size());
    content += value;
    return *this;
  }
  Bytes& raw(std::string const& value) {
    content += value;
    return *this;
  }
  Bytes& head(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    return raw("GGUF").u32(version).u64(tensors).u64(keys);
  }
  Bytes& tensor(std::string const& name, std::vector<std::uint64_t> const& extents, std::uint32_t type,
                std::uint64_t offset) {
    text(name).u32(static_cast<std::uint32_t>(extents.size()));
    for (auto const extent : extents) u64(extent);
    return u32(type).u64(offset);
  }
  Bytes& pad(std::size_t alignment = 32) {
    content.resize((content.size() + alignment - 1) / alignment * alignment, '\0');
    return *this;
  }
};

/// A file of that content for as long as this lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string const& content, std::string const& name = "model.gguf")
      : folder_(fs::temp_directory_path() / ("sextant_pretrained_" + std::to_string(::getpid()))),
        path_(folder_ / name) {
    fs::create_directories(folder_);
    write(content);
  }
  ~TemporaryFile() { fs::remove_all(folder_); }
  void write(std::string const& content) const {
    fs::remove(path_);  // a file cut to nothing and written again is flushed by some file systems
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
  }
  fs::path const& path() const { return path_; }

 private:
  fs::path folder_, path_;
};

inline fs::path data_file(std::string const& name) {
  return fs::path(std::getenv("SEXTANT_TEST_DATA")) / "pretrained" / name;
}

}  // namespace sextant::test
