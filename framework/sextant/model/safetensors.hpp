// The safetensors container: named tensors and text metadata in one file.
//
// Layout: 8 bytes little-endian header length n, n bytes of JSON {name: {dtype, shape, data_offsets}, __metadata__},
// then the tensors' bytes. Source: the format page of the safetensors project.
#pragma once
#include <sextant/base/mapped_file.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::model {

/// A tensor to be written: dtype is F32, F64, I32, I64 or U8, and `bytes` its row-major content.
struct TensorBytes {
  std::string name, dtype;
  std::vector<std::size_t> shape;
  std::string_view bytes;
};

/// Writes the file atomically. The metadata gains "sha256", the digest of everything after the header.
void write_safetensors(fs::path const& path, std::vector<TensorBytes> const& tensors,
                       std::map<std::string, std::string> metadata);

/// A file seen in memory and checked: header, offsets, sizes, and "sha256" where the metadata has it.
class Safetensors {
 public:
  /// Throws Error that says what is torn: a header longer than the file, an offset past the end, tensors that share bytes,
  /// bytes that no tensor has, a digest that differs.
  explicit Safetensors(fs::path const& path);
  Safetensors(Safetensors const&) = delete;  // tensors point into the content
  Safetensors& operator=(Safetensors const&) = delete;

  std::map<std::string, std::string> const& metadata() const { return metadata_; }
  std::vector<std::string> names() const;
  bool has(std::string const& name) const { return tensors_.count(name) > 0; }
  /// Throws Error naming the nearest tensor when there is none of that name.
  TensorBytes const& find(std::string const& name) const;
  /// The same, and throws Error unless dtype and shape are as expected, naming both.
  TensorBytes const& find(std::string const& name, std::string const& dtype,
                          std::vector<std::size_t> const& shape) const;

 private:
  std::string path_;
  MappedFile file_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorBytes> tensors_;
};

}  // namespace sextant::model
