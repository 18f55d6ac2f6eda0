// Weights as transformers saves them: one safetensors file, or several with an index.
#pragma once
#include <sextant/model/safetensors.hpp>
#include <sextant/pretrained/tensor_file.hpp>

#include <memory>

namespace sextant::pretrained {

class SafetensorsFiles : public TensorFile {
 public:
  /// One file.
  explicit SafetensorsFiles(std::shared_ptr<model::Safetensors const> file, fs::path const& path);
  /// A folder with model.safetensors, or with model.safetensors.index.json and the files it names. Throws Error for a tensor
  /// that is not in the file that the index names, or in none.
  explicit SafetensorsFiles(fs::path const& folder);

 private:
  void add(model::Safetensors const& file, fs::path const& path);
  std::vector<std::shared_ptr<model::Safetensors const>> files_;
};

}  // namespace sextant::pretrained
