// What every subcommand is handed, and the list of them. A subcommand is a function here and a file beside this one.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/encoding/registry.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::cli {

/// 0 done, 1 doctor found a fault or advise knows nothing, 2 asked for something wrong, 3 a run failed, 4 a claim does not
/// hold, 130 stopped on request.
enum Exit { done = 0, faults = 1, wrong = 2, failed = 3, unproven = 4, stopped = 130 };

struct Context {
  std::vector<std::string> plugins;  ///< --plugin
  int threads = 0;                   ///< --threads; 0: as the system says
  bool json = false;
  std::string command_line;
  int code = done;
  CLI::App* app = nullptr;

  /// The plugins of the search path, and those named on the command line.
  encoding::Registry& registry() const;
};

/// Checks of numbers, which CLI11's let NaN through.
CLI::Validator above(double low);                 ///< finite
CLI::Validator between(double low, double high);  ///< both ends too

/// Adds --json to a subcommand that prints data.
void takes_json(CLI::App* command, Context& context);
/// A subcommand whose help ends with examples.
CLI::App* add_command(CLI::App& app, std::string const& name, std::string const& what,
                      std::vector<std::string> examples);

void add_list(CLI::App& app, Context& context);
void add_describe(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_rerun(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_cite(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_plot(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_gallery(CLI::App& app, Context& context);
void add_corpus(CLI::App& app, Context& context);
void add_tokenize(CLI::App& app, Context& context);
void add_env(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_model(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_extend(CLI::App& app, Context& context);
void add_search(CLI::App& app, Context& context);
void add_convert(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_advise(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_plugin(CLI::App& app, Context& context);
/// `new`, below `plugin`.
void add_plugin_new(CLI::App& plugin, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace sextant::cli
