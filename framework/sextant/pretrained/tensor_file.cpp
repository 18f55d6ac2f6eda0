#include <sextant/base/error.hpp>
#include <sextant/pretrained/tensor_file.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::pretrained {

std::size_t StoredTensor::count() const {
  std::size_t count = 1;
  for (std::size_t const extent : shape) count *= extent;
  return count;
}

StoredTensor const& TensorFile::find(std::string const& name) const {
  auto const found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::vector<std::string> names;
  for (auto const& [known, tensor] : tensors_) names.push_back(known);
  std::string const near = nearest(name, names);
  fail(path_, ": has no tensor ", name, near.empty() ? "" : "; the nearest is " + near);
}

std::vector<float> values_of(TensorFile const& file, StoredTensor const& tensor) {
  std::vector<float> out(tensor.count());
  dequantise(tensor.format, tensor.bytes, out.size(), out.data());
  auto const wrong = std::find_if(out.begin(), out.end(), [](float value) { return !std::isfinite(value); });
  expect(wrong == out.end(), file.path(), ": ", tensor.name, "[", wrong - out.begin(), "] is ",
         wrong == out.end() ? 0.f : *wrong, ", expected finite numbers");
  return out;
}

std::map<std::string, int> formats_of(TensorFile const& file) {
  std::map<std::string, int> out;
  for (auto const& [name, tensor] : file.tensors()) ++out[info(tensor.format).name];
  return out;
}

}  // namespace sextant::pretrained
