// The files of a new plugin's project.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::cli {

struct PluginKind {
  std::string_view name, what;
};
/// What `plugin new --kind` offers.
std::vector<PluginKind> const& plugin_kinds();

/// Files by name of a project that builds as it is and passes `plugin check`: source, CMakeLists.txt, spec.yaml, check.sh,
/// README.md, .gitignore. `name`: lower-case letters, digits and _.
std::map<std::string, std::string> plugin_project(std::string const& name, std::string_view kind);

}  // namespace sextant::cli
