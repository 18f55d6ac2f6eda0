// cite: BibTeX of everything that a spec or a study uses.
#include <sextant/cli/specs.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/references.hpp>

#include <fmt/format.h>

#include <memory>

namespace sextant::cli {
namespace {
namespace fs = std::filesystem;
using encoding::Role;
using report::Cited;

void add_choice(std::vector<Cited>& out, encoding::Registry const& registry, Role role,
                encoding::Choice const& choice) {
  out.push_back({choice.use, registry.describe(role, choice.use).source});
  for (auto const& part : choice.parts) add_choice(out, registry, role, part);
}

std::vector<Cited> of_spec(std::string const& path, encoding::Registry const& registry) {
  spec::Spec const spec = read_spec({.path = path, .tier = {}, .sets = {}, .folder = {}}, registry);
  std::vector<Cited> out{{"this program", "framework definition"}};
  for (auto const& arm : spec.arms) {
    for (auto const& task : arm.setting.data.task) add_choice(out, registry, Role::task, task);
    for (auto const& view : arm.views) {
      for (auto const& choice : view.position.encodings) add_choice(out, registry, Role::encoding, choice);
      for (auto const& choice : view.position.scalings) add_choice(out, registry, Role::scaling, choice);
    }
  }
  for (auto const& source : spec.source) out.push_back({"the study follows", source});
  return out;
}

std::vector<Cited> of_study(fs::path const& file) {
  auto const study = report::load_study(file);
  std::vector<Cited> out{{"this program", "framework definition"}};
  for (auto const& plugin : study.plugins) out.push_back({plugin.name, plugin.source});
  for (auto const& source : study.sources) out.push_back({"the study follows", source});
  return out;
}
}  // namespace

void add_cite(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "cite", "BibTeX of every encoding, scaling and task that a spec or study uses",
                                    {"cite experiments/quickstart > references.bib", "cite results/quickstart --json"});
  auto const path = std::make_shared<std::string>();
  command->add_option("what", *path, "a spec, a study file, or the folder of either")->required();
  takes_json(command, context);
  command->callback([path, &context] {
    fs::path const given = *path, study = study_file(*path);
    std::error_code none;
    bool const measured = study.extension() == ".h5" && (study == given || fs::exists(study, none));
    auto const cited = measured ? of_study(study) : of_spec(*path, context.registry());
    fmt::print("{}", context.json ? report::bibliography_json(cited) : report::bibliography(cited));
  });
}

}  // namespace sextant::cli
