#include <sextant/base/file.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/run/source.hpp>
#include <sextant/run/start.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/number.hpp>
#include <sextant/spec/yaml.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <cmath>
#include <thread>

namespace sextant::cli {
namespace fs = std::filesystem;

std::shared_ptr<SpecArguments> takes_spec(CLI::App* command) {
  auto const arguments = std::make_shared<SpecArguments>();
  command->add_option("spec", arguments->path, "a spec file, or a folder that holds spec.yaml")->required();
  command->add_option("--tier", arguments->tier, "smoke, small (default) or article");
  command->add_option("--set", arguments->sets, "override one key, e.g. train.steps=50 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

void takes_folder(CLI::App* command, SpecArguments& arguments) {
  command->add_option("-o,--output", arguments.folder, "folder of the study (default: results/<study>)")
      ->type_name("FOLDER");
}

std::vector<encoding::Choice> choices_of(std::string const& text, encoding::Role role, std::string const& argument,
                                         encoding::Registry const& registry) {
  spec::Catalogue const catalogue(registry);
  spec::Reading reading{catalogue, {}};
  return spec::read_choices(spec::parse_yaml(text, argument), role, argument, reading);
}

int token_count(std::string const& text, std::string const& argument) {
  constexpr int most = 1 << 24;
  auto const number = spec::parse_number(text);
  double const value = number ? spec::as_double(*number) : 0;
  expect(number && value == std::floor(value) && value >= 2 && value <= most, argument, " is ", text,
         ", expected a whole number of tokens from 2 to ", most);
  return static_cast<int>(value);
}

int threads_of(int asked) { return asked > 0 ? asked : static_cast<int>(std::thread::hardware_concurrency()); }

spec::Catalogue catalogue_of(encoding::Registry const& registry) {
  return spec::Catalogue(registry).know(run::models_of(registry, tasks::default_cache()));
}

spec::Spec read_spec(SpecArguments const& arguments, encoding::Registry const& registry) {
  spec::Overrides overrides;
  if (!arguments.tier.empty()) overrides.tier = arguments.tier;
  overrides.sets = arguments.sets;
  return spec::load_spec(arguments.path, overrides, catalogue_of(registry));
}

plan::Plan plan_of(spec::Spec const& spec, encoding::Registry const& registry, int threads) {
  plan::Machine machine;
  machine.memory = plan::available_memory();
  if (double const known = known_gflops(threads_of(threads)); known > 0) machine.gflops = known;
  auto const corpus = [&registry](spec::Data const& data) {
    return run::source_facts(data, registry, tasks::default_cache());
  };
  return plan::make_plan(spec, plan::world_of(registry, corpus, machine));
}

fs::path folder_of(SpecArguments const& arguments, spec::Spec const& spec) {
  if (!arguments.folder.empty()) {
    expect(fs::path(arguments.folder).extension() != ".h5", "-o ", arguments.folder,
           ": is the name of a file, expected a folder; the study file in it is study.h5");
    return arguments.folder;
  }
  return fs::path("results") / (spec.tier == "small" ? spec.study : spec.study + "-" + spec.tier);
}

fs::path study_file(std::string const& given) {
  std::error_code none;
  return fs::is_directory(given, none) ? fs::path(given) / "study.h5" : fs::path(given);
}

void make_folder(fs::path const& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  expect(!failed, folder.string(), ": cannot make this folder: ", failed.message());
}

void set_aside(fs::path const& study, std::string const& mark, std::string const& why) {
  fs::path const old = study.parent_path() / ("study-" + mark.substr(0, 8) + ".h5");
  fs::rename(study, old);
  fmt::print(stderr, "the earlier study file {}; it is now {}\n", why, old.string());
}

namespace {
fs::path machine_file() { return tasks::default_cache() / "machine.json"; }
}  // namespace

double known_gflops(int threads) {
  std::error_code none;
  if (!fs::exists(machine_file(), none)) return 0;
  auto const json = nlohmann::json::parse(read_file(machine_file()), nullptr, false);
  std::string const key = std::to_string(threads);
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

void remember_gflops(double gflops, int threads) {
  std::error_code none;
  nlohmann::json json;
  if (fs::exists(machine_file(), none)) json = nlohmann::json::parse(read_file(machine_file()), nullptr, false);
  if (!json.is_object()) json = nlohmann::json::object();
  json[std::to_string(threads)] = gflops;
  write_file_atomically(machine_file(), json.dump() + "\n");
}

}  // namespace sextant::cli
