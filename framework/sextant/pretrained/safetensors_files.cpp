#include <sextant/base/error.hpp>
#include <sextant/pretrained/safetensors_files.hpp>

#include <sextant/base/json.hpp>

namespace sextant::pretrained {
namespace {
NumberFormat format_of(model::TensorBytes const& tensor, fs::path const& path) {
  if (tensor.dtype == "F32") return NumberFormat::f32;
  if (tensor.dtype == "F16") return NumberFormat::f16;
  if (tensor.dtype == "BF16") return NumberFormat::bf16;
  fail(path.string(), ": ", tensor.name, " is ", tensor.dtype, ", expected F32, F16 or BF16");
}

// Tensor -> file, as the index has it.
std::map<std::string, std::string> read_index(fs::path const& path) {
  try {
    auto const json = nlohmann::json::parse(read_file(path));
    return json.at("weight_map").get<std::map<std::string, std::string>>();
  } catch (nlohmann::json::exception const& error) {
    fail(path.string(), ": expected weight_map, the file of each tensor: ", error.what());
  }
}
}  // namespace

void SafetensorsFiles::add(model::Safetensors const& file, fs::path const& path) {
  for (auto const& name : file.names()) {
    auto const& tensor = file.find(name);
    bool const fresh =
        tensors_.emplace(name, StoredTensor{name, tensor.shape, format_of(tensor, path), tensor.bytes}).second;
    expect(fresh, path.string(), ": ", name, " is in another file too");
  }
}

SafetensorsFiles::SafetensorsFiles(std::shared_ptr<model::Safetensors const> file, fs::path const& path)
    : TensorFile(path.string()), files_{std::move(file)} {
  add(*files_.front(), path);
}

SafetensorsFiles::SafetensorsFiles(fs::path const& folder) : TensorFile(folder.string()) {
  auto const open = [&](fs::path const& path) {
    files_.push_back(std::make_shared<model::Safetensors>(path));
    add(*files_.back(), path);
  };
  fs::path const index = folder / "model.safetensors.index.json", one = folder / "model.safetensors";
  expect(fs::exists(index) || fs::exists(one), folder.string(), ": has neither model.safetensors nor ",
         "model.safetensors.index.json");
  if (!fs::exists(index)) {
    open(one);
    return;
  }
  auto const places = read_index(index);
  std::map<std::string, std::vector<std::string>> by_file;
  for (auto const& [tensor, file] : places) by_file[file].push_back(tensor);
  for (auto const& [file, tensors] : by_file) {
    expect(fs::path(file).filename() == fs::path(file), index.string(), ": names the file ", file,
           ", expected one of the same folder");
    open(folder / file);
    for (auto const& tensor : tensors)
      expect(files_.back()->has(tensor), index.string(), ": ", tensor, " is not in ", file);
  }
  for (auto const& [name, tensor] : tensors_)
    expect(places.count(name) > 0, index.string(), ": does not name ", name, ", which one of the files holds");
}

}  // namespace sextant::pretrained
