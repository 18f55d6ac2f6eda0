// plugin check: the conformance suite on one plugin, by name or by file.
#include <sextant/base/kokkos.hpp>
#include <sextant/base/session.hpp>
#include <sextant/check/conformance.hpp>
#include <sextant/cli/command.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

namespace sextant::cli {
namespace {
using check::Conformance;
using check::Finding;
using encoding::Role;

struct CheckArguments {
  std::string plugin;
  std::vector<std::string> only;
  bool digest = false;
};

/// What to say, and with which status to end, should the plugin end the process. Written before each input, so that the
/// handler of a signal has nothing left to do but to print it.
class LastWords {
 public:
  explicit LastWords(bool as_json) : as_json_(as_json) {
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, speak);
  }
  ~LastWords() {
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
  }
  void prepare(Conformance so_far, Finding now) const {
    now.outcome = check::Outcome::fail;
    now.measured = false;
    now.note = "the plugin crashed here; later checks were not run";
    so_far.findings.push_back(std::move(now));
    std::string const words = as_json_ ? so_far.json() + "\n" : so_far.table();
    size_ = 0;
    std::size_t const size = std::min(words.size(), text_.size());
    std::memcpy(text_.data(), words.data(), size);
    size_ = size;
  }

 private:
  static void speak(int) {
    [[maybe_unused]] auto const written = ::write(STDOUT_FILENO, text_.data(), size_);
    ::_exit(failed);
  }
  static inline std::array<char, 1 << 16> text_;
  static inline std::size_t volatile size_ = 0;
  bool as_json_;
};

/// Loads a file that is not loaded yet. What it holds, by role and name.
std::pair<Role, std::string> find(encoding::Registry& registry, std::string const& plugin) {
  if (plugin.ends_with(".so") || plugin.find('/') != std::string::npos) {
    std::error_code none;
    for (auto const& loaded : registry.loaded())
      if (loaded.error.empty() && std::filesystem::equivalent(loaded.file, plugin, none))
        return {loaded.role, loaded.name};
    registry.load_file(plugin);
    return {registry.loaded().back().role, registry.loaded().back().name};
  }
  std::vector<std::string> known;
  for (Role const role : encoding::all_roles) {
    if (registry.has(role, plugin)) return {role, plugin};
    for (auto const& name : registry.names(role)) known.push_back(name);
  }
  fail("plugin check: there is no plugin ", plugin, did_you_mean(plugin, known), "; a file ends in .so");
}

std::string quoted(std::string const& word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The digest of a second process, on another number of threads.
std::string digest_elsewhere(Context const& context, std::string const& plugin) {
  std::string command = quoted(std::filesystem::read_symlink("/proc/self/exe").string());
  for (auto const& file : context.plugins) command += " --plugin " + quoted(file);
  command += text(" --threads ", concurrency() == 1 ? 2 : 1, " plugin check --digest ", quoted(plugin));
  std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), &pclose);
  expect(pipe != nullptr, "plugin check: cannot start a second process");
  std::array<char, 256> line{};
  std::string last;  // Kokkos may warn of too many threads before it
  while (std::fgets(line.data(), line.size(), pipe.get())) last.assign(line.data(), std::strcspn(line.data(), "\n"));
  return last;
}

void run_check(CheckArguments const& a, Context& context) {
  Session const kokkos(context.threads);
  auto const [role, name] = find(context.registry(), a.plugin);
  if (a.digest) {
    fmt::print("{}\n", check::conformance_digest(context.registry(), role, name));
    return;
  }
  LastWords const words(context.json);
  check::ConformanceSettings settings;
  settings.only = a.only;
  settings.digest_on_other_threads = [&] { return digest_elsewhere(context, a.plugin); };
  settings.before = [&](Conformance const& so_far, Finding const& now) { words.prepare(so_far, now); };
  auto const report = check::check_plugin(context.registry(), role, name, settings);
  fmt::print("{}", context.json ? report.json() + "\n" : report.table());
  if (!report.passed()) context.code = failed;
}
}  // namespace

void add_plugin(CLI::App& app, Context& context) {
  auto* const plugin =
      add_command(app, "plugin", "Begin a plugin, or judge one",
                  {"plugin new log_fade", "plugin check alibi", "plugin check build/plugins/mine.so --json"});
  plugin->require_subcommand(1);
  add_plugin_new(*plugin, context);
  auto* const command = add_command(
      *plugin, "check", "The conformance suite on one encoding, scaling or task: exit 0 only if nothing failed",
      {"plugin check alibi", "plugin check ./mine.so --only relative gradient_inputs"});
  auto const a = std::make_shared<CheckArguments>();
  command->add_option("plugin", a->plugin, "a registered encoding, scaling or task, or a plugin's shared object")
      ->required();
  command->add_option("--only", a->only, "run these checks alone")->type_name("CHECK");
  command->add_flag("--digest", a->digest)->group("");  // for the second process of the check on threads
  takes_json(command, context);
  command->callback([a, &context] { run_check(*a, context); });
}

}  // namespace sextant::cli
