// rerun: a stored study once more, and what came out differently.
#include <sextant/base/file.hpp>
#include <sextant/cli/study.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/rerun.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

namespace sextant::cli {
namespace {
using results::Difference, results::Group;

struct RerunArguments {
  std::string file;
  SpecArguments spec;
  run::RunOptions options;
  bool strict = false;
};

std::string shown_difference(Difference const& difference) {
  return fmt::format("  {}: {} -> {}\n", difference.path.substr(difference.path.find('@') == 0 ? 1 : 0),
                     difference.left, difference.right);
}

nlohmann::json differences_json(std::vector<Difference> const& differences) {
  auto out = nlohmann::json::array();
  for (auto const& each : differences) out.push_back({{"what", each.path}, {"before", each.left}, {"now", each.right}});
  return out;
}

/// Writes the stored spec into the folder and returns its path. A folder that holds another is refused.
fs::path lay_out_spec(fs::path const& folder, std::string const& resolved, std::string const& file) {
  fs::path const spec = folder / "stored.yaml";
  if (fs::exists(spec) || fs::exists(folder / "spec.yaml"))
    expect(fs::exists(spec) && read_file(spec) == resolved, folder.string(), ": holds another spec than ", file,
           ", expected an empty folder or an earlier rerun of it: choose another with -o");
  make_folder(folder);
  write_file_atomically(spec, resolved);
  return spec;
}

int rerun(RerunArguments& a, Context& context) {
  fs::path const file = study_file(a.file);
  Group const before = results::read_file(file);
  auto const* const resolved = before.find_array("spec/resolved");
  std::string const spec = resolved ? before.text("spec/resolved") : "";
  expect(spec.starts_with("sextant:"), file.string(),
         ": holds no spec that `run` reads, expected a study of `sextant run`");
  fs::path const folder =
      a.spec.folder.empty()
          ? fs::path("results") / (before.attribute<std::string>("study", file.stem().string()) + "-rerun")
          : fs::path(a.spec.folder);
  expect(!fs::exists(folder / "study.h5") || !fs::equivalent(folder / "study.h5", file), folder.string(),
         ": is the study itself, expected another folder for its rerun");
  a.spec.path = lay_out_spec(folder, spec, file.string()).string();
  a.spec.folder = folder.string();
  Carried const carried = carry_out(a.spec, a.options, context);
  if (carried.outcome.stopped) return stopped;
  print_failures(stderr, carried.outcome.failures);

  Group const after = results::read_file(carried.outcome.study_file);
  Group const was = results::numbers_of(before), is = results::numbers_of(after);
  auto const numbers = results::differences(was, is);
  auto const origin = results::differences(results::origin_of(before), results::origin_of(after));
  if (context.json) {
    fmt::print("{}\n", nlohmann::json{{"study", file.string()},
                                      {"numbers", was.attributes.size()},
                                      {"different", differences_json(numbers)},
                                      {"origin", differences_json(origin)}}
                           .dump(2));
  } else {
    fmt::print("\nagainst {}: of {} numbers and curves, {} the same to the bit\n", file.string(), was.attributes.size(),
               was.attributes.size() - std::min(was.attributes.size(), numbers.size()));
    for (auto const& each : numbers) fmt::print("{}", shown_difference(each));
    if (!origin.empty()) fmt::print("what ran them differs:\n");
    for (auto const& each : origin) fmt::print("{}", shown_difference(each));
  }
  if (carried.code() != done) return carried.code();
  return a.strict && !numbers.empty() ? unproven : done;
}
}  // namespace

void add_rerun(CLI::App& app, Context& context) {
  auto* const command =
      add_command(app, "rerun", "Run the spec that a study holds once more and report every number that differs",
                  {"rerun results/quickstart", "rerun experiments/ntk-256-to-1024/study.h5 --strict"});
  auto const a = std::make_shared<RerunArguments>();
  command->add_option("study", a->file, "a study file or folder")->required();
  command->add_option("-o,--output", a->spec.folder, "folder of the rerun (default: results/<study>-rerun)")
      ->type_name("FOLDER");
  command->add_option("--only", a->options.only, "carry out this arm alone")->type_name("ARM");
  command->add_flag("--quiet", a->options.quiet, "no progress");
  command->add_flag("--strict", a->strict, "exit with status 4 when a number differs");
  takes_json(command, context);
  command->callback([a, &context] { context.code = rerun(*a, context); });
}

}  // namespace sextant::cli
