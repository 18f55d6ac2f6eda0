// The files of a new plugin's project.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::cli {

struct PluginKind {
  std::string_view name, what;
  std::string_view source, spec, inspect;  ///< how the project's files of it begin; @NAME@ stands for its name
};
/// What `plugin new --kind` offers.
std::vector<PluginKind> const& plugin_kinds();

/// Files by name of a project that builds as it is and passes `plugin check`: source, CMakeLists.txt, spec.yaml, check.sh,
/// README.md, .gitignore. `name`: lower-case letters, digits and _.
std::map<std::string, std::string> plugin_project(std::string const& name, PluginKind const& kind);

}  // namespace sextant::cli
