// list, describe: what there is to choose from.
#include <sextant/cli/command.hpp>
#include <sextant/cli/compatibility.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/reference.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <functional>
#include <map>
#include <memory>

namespace sextant::cli {
namespace {
using encoding::Role;
using nlohmann::json;

json to_json(encoding::Description const& d) {
  json out{{"name", d.name},       {"role", noun(d.role)}, {"family", d.family},
           {"summary", d.summary}, {"formula", d.formula}, {"source", d.source}};
  out["options"] = json::array();
  for (auto const& o : d.options)
    out["options"].push_back({{"name", o.name},
                              {"expects", o.expectation()},
                              {"unit", o.unit},
                              {"help", o.help},
                              {"default", o.fallback ? json(encoding::to_text(*o.fallback)) : json()},
                              {"auto", o.auto_meaning}});
  out["takes_parts"] = d.takes_parts;
  out["laws"] = json::array();
  for (auto const& law : d.laws) out["laws"].push_back({{"name", law.name}, {"meaning", law.meaning}});
  return out;
}

void list_plugins(encoding::Registry const& registry, Role role, bool as_json) {
  json all = json::array();
  for (auto const& name : registry.names(role)) {
    auto const& d = registry.describe(role, name);
    if (as_json)
      all.push_back(to_json(d));
    else
      fmt::print("{:<16} {:<12} {}  [{}]\n", d.name, d.family, d.summary, d.source);
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_files(encoding::Registry const& registry, bool as_json) {
  json all = json::array();
  for (auto const& loaded : registry.loaded()) {
    if (as_json)
      all.push_back({{"file", loaded.file.string()}, {"name", loaded.name}, {"error", loaded.error}});
    else if (loaded.error.empty())
      fmt::print("{:<16} {}\n", loaded.name, loaded.file.string());
    else
      fmt::print("{:<16} {}\n", "not loaded", loaded.error);
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_corpora(bool as_json) {
  json all = json::array();
  for (auto const& recipe : tasks::corpus_recipes()) {
    auto const record = tasks::corpus_record(recipe.name, tasks::default_cache());
    if (as_json)
      all.push_back({{"name", recipe.name},
                     {"about", recipe.about},
                     {"licence", recipe.licence},
                     {"packages", recipe.packages},
                     {"bytes", record ? json(record->bytes) : json()}});
    else
      fmt::print("{:<12} {}  [{}; {}]\n", recipe.name, recipe.about, join(recipe.packages, " "),
                 record ? fmt::format("{:.1f} MB built", static_cast<double>(record->bytes) / 1e6) : "not built yet");
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

void list_plots(bool as_json) {
  json all = json::array();
  for (auto const& plot : report::plots()) all.push_back({{"name", plot.name}, {"what", plot.what}});
  fmt::print("{}", as_json ? all.dump(2) + "\n" : report::plot_list());
}

// What stands in a spec to use the plugin, with what it requires; empty where no example is known.
std::string example_of(encoding::Registry const& registry, encoding::Description const& d) {
  spec::Catalogue const catalogue(registry);
  spec::Reading const reading{catalogue, {}};
  try {
    return spec::write_choices({inspect::choice_of(d)}, d.role, "", reading).text;
  } catch (Error const&) {
    return "";
  }
}

void print_description(encoding::Registry const& registry, encoding::Description const& d) {
  fmt::print("{}  ({}, {})\n  {}\n\n", d.name, noun(d.role), d.family, d.summary);
  if (!d.formula.empty()) fmt::print("formula  {}\n", d.formula);
  fmt::print("source   {}\n", d.source);
  if (auto const example = example_of(registry, d); !example.empty()) fmt::print("example  {}\n", example);
  fmt::print("\noptions{}\n", d.options.empty() ? "  none" : "");
  for (auto const& o : d.options) {
    fmt::print("  {:<18} {}; {}\n", o.name, o.expectation(),
               o.fallback ? "default " + encoding::to_text(*o.fallback) : std::string("required"));
    fmt::print("  {:<18} {}\n", "", o.help);
    if (!o.auto_meaning.empty()) fmt::print("  {:<18} auto: {}\n", "", o.auto_meaning);
  }
  if (d.takes_parts) fmt::print("  {:<18} a list of encodings; required\n", "parts");
  if (d.role == Role::task) return;
  fmt::print("\nlaws it claims{}\n", d.laws.empty() ? "  none" : "");
  for (auto const& law : d.laws) fmt::print("  {:<18} {}\n", law.name, law.meaning);
}
}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "list", "Print what there is: encodings, scalings, tasks, corpora, plots, plugins",
      {"list encodings", "list scalings --json", "list plugins", "list --matrix", "list --matrix --markdown"});
  static std::map<std::string, std::function<void(Context&)>> const kinds = {
      {"encodings", [](Context& c) { list_plugins(c.registry(), Role::encoding, c.json); }},
      {"scalings", [](Context& c) { list_plugins(c.registry(), Role::scaling, c.json); }},
      {"tasks", [](Context& c) { list_plugins(c.registry(), Role::task, c.json); }},
      {"plugins", [](Context& c) { list_files(c.registry(), c.json); }},
      {"corpora", [](Context& c) { list_corpora(c.json); }},
      {"plots", [](Context& c) { list_plots(c.json); }}};
  auto const kind = std::make_shared<std::string>("encodings");
  auto* const which =
      command->add_option("kind", *kind, "encodings (default), scalings, tasks, plugins, corpora or plots");
  auto const matrix = std::make_shared<bool>(false), markdown = std::make_shared<bool>(false);
  auto* const flag = command->add_flag("--matrix", *matrix, "what composes with what, and why the rest does not");
  flag->excludes(which);
  command->add_flag("--markdown", *markdown, "with --matrix: tables in Markdown")->needs(flag);
  takes_json(command, context);
  command->callback([kind, matrix, markdown, &context] {
    if (*matrix) {
      expect(!context.json || !*markdown, "list: --json and --markdown are two formats: give one");
      auto const found = inspect::compatibility(context.registry());
      fmt::print("{}", context.json ? compatibility_json(found) : compatibility_text(found, *markdown));
      return;
    }
    auto const found = kinds.find(*kind);
    std::vector<std::string> names;
    for (auto const& [name, _] : kinds) names.push_back(name);
    expect(found != kinds.end(), "list: there is no list of ", *kind, did_you_mean(*kind, names));
    found->second(context);
  });
}

void add_describe(CLI::App& app, Context& context) {
  auto* const command =
      add_command(app, "describe", "Everything about one encoding, scaling or task, or the spec format",
                  {"describe rope", "describe yarn --json", "describe spec"});
  auto const name = std::make_shared<std::string>();
  command->add_option("name", *name, "an encoding, a scaling, a task, or the word spec")->required();
  takes_json(command, context);
  command->callback([name, &context] {
    if (*name == "spec") {
      expect(!context.json, "describe: --json is for plugins; the spec format is described in Markdown");
      fmt::print("{}", spec::spec_reference());
      return;
    }
    auto& registry = context.registry();
    bool found = false;
    for (auto const role : encoding::all_roles) {
      if (!registry.has(role, *name)) continue;
      found = true;
      if (context.json)
        fmt::print("{}\n", to_json(registry.describe(role, *name)).dump(2));
      else
        print_description(registry, registry.describe(role, *name));
    }
    std::vector<std::string> known;
    for (auto const role : encoding::all_roles)
      for (auto const& each : registry.names(role)) known.push_back(each);
    expect(found, "describe: there is no encoding, scaling or task ", *name, did_you_mean(*name, known));
  });
}

}  // namespace sextant::cli
