// The program `sextant`: parses the command line and maps what goes wrong to an exit status.
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>

#include <cstdio>
#include <exception>

namespace sextant::build {
extern char const* const version;
}

namespace {
/// Throws Error for an empty argument: a shell variable that is not set would choose a default, or all, unsaid.
void expect_no_empty(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    sextant::expect(*argv[i] != '\0', "there is an empty argument behind ", argv[i - 1],
                    ", expected a value: is a shell variable not set?");
}

/// What stands where a command's name is expected: empty where nothing does.
std::string unknown_command(CLI::App const& app) {
  CLI::App const* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  std::vector<std::string> known;
  for (auto const* command : at->get_subcommands(nullptr)) known.push_back(command->get_name());
  if (known.empty()) return "";
  for (auto const& word : app.remaining(true))
    if (!word.starts_with('-')) return "there is no command " + word + sextant::did_you_mean(word, known);
  return "";
}
}  // namespace

int main(int argc, char** argv) {
  using namespace sextant::cli;
  sextant::wait_politely(argv);
  CLI::App app{"Sextant: position encodings of transformers, trained, measured and compared.", "sextant"};
  app.set_version_flag("--version", std::string("sextant ") + sextant::build::version);
  app.require_subcommand(1);
  app.fallthrough();
  Context context;
  context.app = &app;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + std::string(argv[i]);
  app.add_option("--plugin", context.plugins, "load this plugin file too (may be repeated)")
      ->type_name("FILE")
      ->take_all();
  app.add_option("--threads", context.threads, "threads to compute with (default: all)")->check(CLI::Range(1, 4096));
  for (auto const add : {add_list,    add_describe, add_validate, add_plan,  add_run,    add_rerun,   add_status,
                         add_compare, add_check,    add_report,   add_plot,  add_export, add_gallery, add_cite,
                         add_inspect, add_advise,   add_doctor,   add_model, add_import, add_extend,  add_search,
                         add_convert, add_corpus,   add_tokenize, add_env,   add_verify, add_plugin,  add_completion})
    add(app, context);
  try {
    expect_no_empty(argc, argv);
    app.parse(argc, argv);
  } catch (CLI::RequiredError const& error) {
    auto const unknown = unknown_command(app);
    if (unknown.empty()) return app.exit(error), wrong;
    std::fprintf(stderr, "sextant: %s\n", unknown.c_str());
    return wrong;
  } catch (CLI::ParseError const& error) {
    return app.exit(error) == 0 ? done : wrong;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "sextant: %s\n", error.what());
    return wrong;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "sextant: cannot write to standard output\n");
    return wrong;
  }
  return context.code;
}
