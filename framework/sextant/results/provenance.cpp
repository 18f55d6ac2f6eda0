#include <sextant/results/hdf5.hpp>
#include <sextant/results/provenance.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>

namespace sextant::results {
namespace {
// What follows the separator on the first line of a file that starts with `key`; "" when there is none.
std::string line_value(char const* file, std::string const& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t const at = line.find(separator);
    std::size_t const begin = at == std::string::npos ? at : line.find_first_not_of(" \t\"", at + 1);
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \t\"") + 1 - begin);
  }
  return "";
}

std::string quoted(std::string const& word) {  // for sh
  std::string out = "'";
  for (char const c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Output of a git command in `folder`; `good` becomes false when git says no.
std::string git(fs::path const& folder, std::string const& arguments, bool& good) {
  std::string const command = "git -C " + quoted(folder.string()) + " " + arguments + " 2>/dev/null";
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string out;
  if (pipe) {
    std::array<char, 4096> block;
    for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) out.append(block.data(), got);
  }
  good = good && pipe && ::pclose(pipe) == 0;
  return out;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

template <class Fact, class Field>
auto fact_column(std::vector<Fact> const& facts, Field Fact::*field) {
  std::vector<Field> out;
  for (Fact const& fact : facts) out.push_back(fact.*field);
  return out;
}
}  // namespace

std::string now_iso8601() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Provenance this_machine() {
  Provenance out;
  out.compiler = compiler();
  out.cpu = line_value("/proc/cpuinfo", "model name", ':');
  out.memory = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
  utsname kernel{};
  ::uname(&kernel);
  out.os = sextant::text(line_value("/etc/os-release", "PRETTY_NAME=", '='), ", ", kernel.sysname, ' ', kernel.release,
                         ' ', kernel.machine);
  out.started = now_iso8601();
  unsigned major = 0, minor = 0, release = 0;
  {
    Session const session;
    H5get_libversion(&major, &minor, &release);
  }
  out.libraries.push_back({"hdf5", sextant::text(major, '.', minor, '.', release)});
  return out;
}

void add_source_state(Provenance& provenance, fs::path const& source) {
  bool good = true;
  std::string commit = git(source, "rev-parse HEAD", good);
  std::string const status = git(source, "status --porcelain", good);
  std::string diff = git(source, "diff HEAD", good);
  if (!good) return;
  commit.erase(commit.find_last_not_of('\n') + 1);
  std::erase(diff, '\0');  // a binary file's diff, which a text cannot hold
  provenance.commit = commit;
  provenance.dirty = !status.empty();
  provenance.diff = diff;
}

Group to_group(Provenance const& from) {
  Group out;
  out.set("commit", from.commit).set("dirty", from.dirty).set("compiler", from.compiler).set("flags", from.flags);
  out.set("kokkos_version", from.kokkos_version).set("backend", from.backend).set("device", from.device);
  out.set("threads", from.threads).set("cpu", from.cpu).set("memory", from.memory).set("os", from.os);
  out.set("command_line", from.command_line).set("started", from.started).set("finished", from.finished);
  out.set("generator", from.generator);
  if (!from.diff.empty()) out.put("diff", from.diff, "uncommitted changes to the source");

  Group& libraries = out["libraries"];
  libraries.put("name", fact_column(from.libraries, &LibraryFact::name), "library");
  libraries.put("version", fact_column(from.libraries, &LibraryFact::version), "version");
  Group& plugins = out["plugins"];
  plugins.put("name", fact_column(from.plugins, &PluginFact::name), "plugin");
  plugins.put("version", fact_column(from.plugins, &PluginFact::version), "version");
  plugins.put("abi", fact_column(from.plugins, &PluginFact::abi), "binary interface it was built for");
  plugins.put("sha256", fact_column(from.plugins, &PluginFact::sha256), "SHA-256 of its file");
  plugins.put("origin", fact_column(from.plugins, &PluginFact::origin), "where it was loaded from");
  plugins.put("source", fact_column(from.plugins, &PluginFact::source), "paper that it follows");
  Group& inputs = out["inputs"];
  inputs.put("name", fact_column(from.inputs, &InputFact::name), "input");
  inputs.put("kind", fact_column(from.inputs, &InputFact::kind), "what it is");
  inputs.put("bytes", fact_column(from.inputs, &InputFact::bytes), "byte", "size");
  inputs.put("sha256", fact_column(from.inputs, &InputFact::sha256), "SHA-256 of its bytes");
  inputs.put("licence", fact_column(from.inputs, &InputFact::licence), "licence");
  return out;
}

}  // namespace sextant::results
