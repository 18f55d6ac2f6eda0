#include <sextant/cli/command.hpp>

namespace sextant::cli {

encoding::Registry& Context::registry() const {
  static bool loaded = false;
  auto& registry = encoding::Registry::global();
  if (!loaded) {
    loaded = true;
    for (auto const& file : plugins) registry.load_file(file);
  }
  return registry;
}

void takes_json(CLI::App* command, Context& context) { command->add_flag("--json", context.json, "print JSON"); }

CLI::App* add_command(CLI::App& app, std::string const& name, std::string const& what,
                      std::vector<std::string> examples) {
  CLI::App* const command = app.add_subcommand(name, what);
  command->fallthrough();
  std::string footer = "Examples:";
  for (auto const& example : examples) footer += "\n  sextant " + example;
  command->footer(footer);
  return command;
}

}  // namespace sextant::cli
