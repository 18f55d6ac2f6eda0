#include <sextant/base/kokkos.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/run/provenance.hpp>

#include <set>

namespace sextant::build {
extern char const* const version;
extern char const* const compiler;
extern char const* const flags;
extern char const* const kokkos_version;
extern char const* const source_dir;
}  // namespace sextant::build

namespace sextant::run {
namespace {
void collect(encoding::Choice const& choice, std::set<std::string>& names) {
  names.insert(choice.use);
  for (auto const& part : choice.parts) collect(part, names);
}
}  // namespace

results::Provenance program_provenance(std::string const& command_line, std::string const& started) {
  results::Provenance p = results::this_machine();
  results::add_source_state(p, build::source_dir);
  p.compiler = build::compiler;
  p.flags = build::flags;
  p.kokkos_version = build::kokkos_version;
  p.backend = Exec::name();
  p.device = on_host ? "host" : "device";
  p.threads = concurrency();
  p.command_line = command_line;
  p.started = started;
  p.finished = results::now_iso8601();
  return p;
}

void add_plugins(results::Provenance& provenance, std::vector<encoding::PositionChoice> const& positions,
                 std::vector<encoding::Choice> const& tasks, encoding::Registry const& registry) {
  using encoding::Role;
  for (auto const role : encoding::all_roles) {
    std::set<std::string> names;
    for (auto const& position : positions) {
      if (role == Role::task) continue;
      for (auto const& choice : role == Role::encoding ? position.encodings : position.scalings) collect(choice, names);
    }
    for (auto const& task : tasks)
      if (role == Role::task) collect(task, names);
    for (auto const& name : names) {
      auto const& file = registry.file_of(role, name);
      provenance.plugins.push_back({.name = name,
                                    .version = build::version,
                                    .abi = "1",
                                    .sha256 = sha256_file(file),
                                    .origin = file.string(),
                                    .source = registry.describe(role, name).source});
    }
  }
}

}  // namespace sextant::run
