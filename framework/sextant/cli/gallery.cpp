// gallery, export: studies to keep and to show.
#include <sextant/base/file.hpp>
#include <sextant/cli/specs.hpp>
#include <sextant/report/gallery.hpp>
#include <sextant/report/load.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/rerun.hpp>

#include <fmt/format.h>

namespace sextant::cli {
namespace {

/// Every FOLDER/study.h5 of a folder, by name; the folder itself when it is a study, or a study file.
std::vector<fs::path> studies_in(fs::path const& given) {
  if (fs::is_regular_file(given)) return {given};
  expect(fs::is_directory(given), given.string(), ": is no study file and no folder");
  if (fs::exists(given / "study.h5")) return {given / "study.h5"};
  std::vector<fs::path> out;
  for (auto const& entry : fs::directory_iterator(given))
    if (fs::exists(entry.path() / "study.h5")) out.push_back(entry.path() / "study.h5");
  std::sort(out.begin(), out.end());
  expect(!out.empty(), given.string(), ": no folder in it holds a study.h5, expected studies of `sextant run`");
  return out;
}

std::string link_to(fs::path const& folder, fs::path const& from) {
  return fs::absolute(folder)
      .lexically_normal()
      .lexically_relative(fs::absolute(from).lexically_normal())
      .generic_string();
}
}  // namespace

void add_gallery(CLI::App& app, Context&) {
  struct Arguments {
    std::vector<std::string> given;
    std::string output = "gallery";
  };
  auto* const command =
      add_command(app, "gallery", "One page of many studies: the verdict of every claim, a card and a page a study",
                  {"gallery experiments -o docs/gallery", "gallery results/a results/b"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("studies", a->given, "study files, folders of studies, or folders that hold those")->required();
  command->add_option("-o,--output", a->output, "folder to write (default: gallery)")->type_name("FOLDER");
  command->callback([a] {
    std::vector<report::Exhibit> exhibits;
    for (auto const& given : a->given)
      for (auto const& file : studies_in(given))
        exhibits.push_back({report::load_study(file), link_to(file.parent_path(), a->output)});
    auto const files = report::gallery(exhibits);
    make_folder(a->output);
    for (auto const& [name, content] : files) write_file_atomically(fs::path(a->output) / name, content);
    fmt::print(stderr, "{} studies: {}\n", exhibits.size(),
               fs::absolute(fs::path(a->output) / "index.html").lexically_normal().string());
  });
}

void add_export(CLI::App& app, Context&) {
  struct Arguments {
    std::string file, output;
  };
  auto* const command =
      add_command(app, "export", "A study file small enough to commit: what tables, plots and verdicts need",
                  {"export results/ntk-256-to-1024 -o experiments/ntk-256-to-1024/study.h5"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("study", a->file, "a study file or folder")->required();
  command->add_option("-o,--output", a->output, "file to write")->required();
  command->callback([a] {
    fs::path const file = study_file(a->file), to = a->output;
    expect(!fs::exists(to) || !fs::equivalent(file, to), to.string(), ": is the study itself, expected another file");
    if (to.has_parent_path()) make_folder(to.parent_path());
    results::write_file(to, results::summarised(results::read_file(file)));
    fmt::print(stderr, "{} ({} kB)\n", fs::absolute(to).lexically_normal().string(), (fs::file_size(to) + 999) / 1000);
  });
}

}  // namespace sextant::cli
