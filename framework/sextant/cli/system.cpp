// env, completion: what surrounds the studies.
#include <sextant/base/kokkos.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/encoding/plugin_abi.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::build {
extern char const* const version;
extern char const* const compiler;
extern char const* const flags;
extern char const* const type;
extern char const* const kokkos_version;
extern char const* const kokkos_devices;
}  // namespace sextant::build

namespace sextant::cli {
namespace {
using nlohmann::json;

std::string bash_completion(CLI::App const& app) {
  std::string names, cases;
  for (auto const* command : app.get_subcommands(nullptr)) {
    names += command->get_name() + " ";
    std::string options;
    for (auto const* option : command->get_options())
      for (auto const& word : option->get_lnames()) options += "--" + word + " ";
    cases += fmt::format("    {}) options=\"{}--plugin --threads\" ;;\n", command->get_name(), options);
  }
  return fmt::format(R"bash(# sextant completion bash >> ~/.bash_completion
_sextant() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=""
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{}" -- "$word")); return; fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "${{COMP_WORDS[1]}}" = describe ]; then
    COMPREPLY=($(compgen -W "spec $(sextant list encodings 2>/dev/null | cut -d' ' -f1) $(sextant list scalings 2>/dev/null | cut -d' ' -f1)" -- "$word"))
  elif [ "${{COMP_WORDS[1]}}" = list ]; then
    COMPREPLY=($(compgen -W "encodings scalings plugins corpora plots" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _sextant sextant
)bash",
                     names, cases);
}
}  // namespace

void add_env(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "env", "The build, the backend, the threads and the plugins, as results record them", {"env", "env --json"});
  takes_json(command, context);
  command->callback([&context] {
    Session const kokkos(context.threads);
    auto& registry = context.registry();
    int loaded = 0, refused = 0;
    for (auto const& item : registry.loaded()) ++(item.error.empty() ? loaded : refused);
    json const facts{
        {"version", build::version}, {"compiler", build::compiler},     {"build_type", build::type},
        {"flags", build::flags},     {"kokkos", build::kokkos_version}, {"kokkos_devices", build::kokkos_devices},
        {"backend", Exec::name()},   {"threads", concurrency()},        {"plugin_api", SEXTANT_PLUGIN_API},
        {"plugins_loaded", loaded},  {"plugins_refused", refused}};
    if (context.json)
      fmt::print("{}\n", facts.dump(2));
    else
      for (auto const& [key, value] : facts.items())
        fmt::print("{:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  });
}

void add_completion(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "completion", "Print a completion script for the shell",
                                    {"completion bash > ~/.local/share/bash-completion/completions/sextant"});
  auto const shell = std::make_shared<std::string>("bash");
  command->add_option("shell", *shell, "bash")->check(CLI::IsMember({"bash"}));
  command->callback([&context] { fmt::print("{}", bash_completion(*context.app)); });
}

}  // namespace sextant::cli
