#include <sextant/base/error.hpp>
#include <sextant/spec/pretrained.hpp>

namespace sextant::spec {

Catalogue::Catalogue(encoding::Registry const& registry) {
  for (auto const role : encoding::all_roles)
    for (auto const& name : registry.names(role)) descriptions_.push_back(registry.describe(role, name));
}

Pretrained Catalogue::pretrained(std::string const& name_or_path) const {
  expect(models_ != nullptr, "pretrained models are not looked up here");
  return models_(name_or_path);
}

std::vector<std::string> Catalogue::names(encoding::Role role) const {
  std::vector<std::string> names;
  for (auto const& description : descriptions_)
    if (description.role == role) names.push_back(description.name);
  return names;
}

encoding::Description const* Catalogue::find(encoding::Role role, std::string const& name) const {
  for (auto const& description : descriptions_)
    if (description.role == role && description.name == name) return &description;
  return nullptr;
}

}  // namespace sextant::spec
