// plugin new: the project of a plugin, to begin from.
#include <sextant/base/file.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/cli/plugin_templates.hpp>
#include <sextant/cli/specs.hpp>

#include <fmt/format.h>

#include <memory>
#include <regex>

namespace sextant::cli {
namespace {
using encoding::Role;

struct NewArguments {
  std::string name, kind = "bias", folder;
};

PluginKind const& kind_of(std::string const& name) {
  std::vector<std::string> known;
  for (auto const& kind : plugin_kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  fail("plugin new: there is no kind ", name, did_you_mean(name, known), "; expected one of ", join(known));
}

void write_new(NewArguments const& a, Context& context) {
  static std::regex const form("[a-z][a-z0-9_]{0,39}");
  expect(std::regex_match(a.name, form), "plugin new: the name is ", a.name,
         ", expected a lower-case letter, then lower-case letters, digits and _ (40 at most)");
  PluginKind const& kind = kind_of(a.kind);
  for (Role const role : encoding::all_roles)
    expect(!context.registry().has(role, a.name), "plugin new: there is a plugin ", a.name,
           " already, expected a name of its own");
  fs::path const folder = a.folder.empty() ? fs::path(a.name) : fs::path(a.folder);
  expect(!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder)), folder.string(),
         ": is there already, expected a new or an empty folder");
  make_folder(folder);
  for (auto const& [name, text] : plugin_project(a.name, kind)) write_file_atomically(folder / name, text);
  fs::permissions(folder / "check.sh", fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
  fmt::print("{}: the formula is in {}.cpp; build and try it with {}\n", folder.string(), a.name,
             (folder / "check.sh").string());
}

}  // namespace

void add_plugin_new(CLI::App& plugin, Context& context) {
  auto* const command =
      add_command(plugin, "new", "Write the project of a new plugin, which builds and passes its check as it is",
                  {"plugin new log_fade", "plugin new my_rope --kind rotary", "plugin new my_scaling --kind scaling"});
  auto const a = std::make_shared<NewArguments>();
  command->add_option("name", a->name, "name of the encoding or scaling")->required();
  std::string what = "what it starts from: ";
  for (auto const& kind : plugin_kinds()) what += text(kind.name, " (", kind.what, ") ");
  command->add_option("--kind", a->kind, what);
  command->add_option("-o,--output", a->folder, "folder to write (default: NAME)")->type_name("FOLDER");
  command->callback([a, &context] { write_new(*a, context); });
}

}  // namespace sextant::cli
