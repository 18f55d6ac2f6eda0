#include <sextant/base/error.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/gguf_vocabulary.hpp>
#include <sextant/pretrained/safetensors_files.hpp>
#include <sextant/pretrained/source.hpp>

#include <algorithm>

namespace sextant::pretrained {
namespace {
Source open_gguf(fs::path const& path, encoding::Registry const& registry) {
  auto const file = std::make_shared<Gguf>(path);
  return {path.string(), text("GGUF ", file->version()), describe(*file, registry), file, read_vocabulary(*file)};
}

Source open_folder(fs::path const& folder, encoding::Registry const& registry) {
  fs::path const config = folder / "config.json";
  expect(fs::exists(config), folder.string(), ": has no config.json, expected a folder as transformers saves it");
  auto const weights = std::make_shared<SafetensorsFiles>(folder);
  return {folder.string(), "safetensors", describe(read_file(config), config.string(), registry), weights,
          std::nullopt};
}
}  // namespace

Source open_source(fs::path const& path, encoding::Registry const& registry) {
  expect(fs::exists(path), path.string(), ": there is no such file or folder");
  if (fs::is_directory(path)) return open_folder(path, registry);
  if (path.extension() != ".safetensors") return open_gguf(path, registry);
  auto checkpoint = open_checkpoint(path);
  expect(checkpoint.has_value(), path.string(),
         " is no checkpoint of an imported model: give the folder that holds config.json");
  return *checkpoint;
}

std::string sha256_of_model(fs::path const& path) {
  if (!fs::is_directory(path)) return sha256_file(path);
  std::vector<fs::path> files;
  for (auto const& entry : fs::directory_iterator(path))
    if (entry.path().filename() == "config.json" || entry.path().extension() == ".safetensors")
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::string all;
  for (auto const& file : files) all += file.filename().string() + " " + sha256_file(file) + "\n";
  return sha256(all);
}

}  // namespace sextant::pretrained
