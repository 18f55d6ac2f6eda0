// The GGUF container of ggml: metadata by key, and tensors.
//
// Layout, little-endian: "GGUF", version, counts of tensors and keys; the keys with their values; name, shape, type and offset
// of every tensor; then, aligned, the tensors' bytes. Source: docs/gguf.md of the ggml project, versions 2 and 3.
#pragma once
#include <sextant/base/mapped_file.hpp>
#include <sextant/pretrained/tensor_file.hpp>

#include <optional>
#include <variant>

namespace sextant::pretrained {

struct GgufArray {
  char const* type = "";  ///< of its elements: "u32", "string", "array", ...
  std::variant<std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>, std::vector<bool>,
               std::vector<std::string_view>, std::vector<GgufArray>>
      values;
};

/// A value of any of GGUF's types. Signed and unsigned integers of all widths, and both floats, are one kind each.
struct GgufValue {
  char const* type = "";  ///< as the file has it: u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64
  std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray> value;
  /// For people: numbers as they are, text in quotes, an array by its length and first elements.
  std::string text() const;
};

class Gguf : public TensorFile {
 public:
  /// Maps the file and checks all of it but the weights' values: every count, length, type and offset. Throws Error with the
  /// byte, what was found there and what was expected.
  explicit Gguf(fs::path const& path);

  std::uint32_t version() const { return version_; }
  std::map<std::string, GgufValue> const& metadata() const { return metadata_; }

  /// Values by key; the other kinds of number are taken where nothing is lost. Throws Error when the key is absent or its
  /// value of another kind, naming the nearest key.
  std::int64_t integer(std::string const& key) const;
  double number(std::string const& key) const;
  std::string word(std::string const& key) const;
  bool flag(std::string const& key) const;
  std::vector<std::string> words(std::string const& key) const;
  std::vector<std::int64_t> integers(std::string const& key) const;
  std::vector<double> numbers(std::string const& key) const;
  bool has_key(std::string const& key) const { return metadata_.count(key) > 0; }

 private:
  friend class GgufReader;
  GgufValue const& value(std::string const& key) const;

  MappedFile file_;
  std::uint32_t version_ = 0;
  std::map<std::string, GgufValue> metadata_;
};

}  // namespace sextant::pretrained
