#include <sextant/cli/command.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>

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

namespace {
CLI::Validator number_where(std::function<bool(double)> holds, std::string expected) {
  return {[holds = std::move(holds), expected](std::string const& given) {
            char* end = nullptr;
            double const value = std::strtod(given.c_str(), &end);
            bool const fine = !given.empty() && *end == '\0' && std::isfinite(value) && holds(value);
            return fine ? std::string() : given + " is not " + expected;
          },
          ""};
}
}  // namespace

CLI::Validator above(double low) {
  return number_where([low](double x) { return x > low; }, fmt::format("a number > {}", low));
}

CLI::Validator between(double low, double high) {
  return number_where([low, high](double x) { return x >= low && x <= high; },
                      fmt::format("a number from {} to {}", low, high));
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
