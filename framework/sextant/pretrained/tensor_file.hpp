// Named tensors in files of any kind, read as float32 one at a time.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/pretrained/number_format.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant::pretrained {

struct StoredTensor {
  std::string name;
  std::vector<std::size_t> shape;  ///< row-major: the last axis is contiguous
  NumberFormat format = NumberFormat::f32;
  std::string_view bytes;  ///< in the mapped file
  std::size_t count() const;
};

class TensorFile {
 public:
  virtual ~TensorFile() = default;

  std::string const& path() const { return path_; }
  std::map<std::string, StoredTensor> const& tensors() const { return tensors_; }
  bool has(std::string const& name) const { return tensors_.count(name) > 0; }
  /// Throws Error naming the nearest tensor when there is none of that name.
  StoredTensor const& find(std::string const& name) const;

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::map<std::string, StoredTensor> tensors_;
};

/// All values of a tensor. Throws Error naming the first that is not a finite number.
std::vector<float> values_of(TensorFile const& file, StoredTensor const& tensor);

/// "Q4_1 x 210, F32 x 61": how many tensors lie in which format.
std::map<std::string, int> formats_of(TensorFile const& file);

}  // namespace sextant::pretrained
