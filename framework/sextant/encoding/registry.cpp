#include <sextant/base/error.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/encoding/plugin_abi.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/encoding/task.hpp>

#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sextant::encoding {
namespace dll = boost::dll;
namespace fs = std::filesystem;

struct Registry::Entry {
  fs::path file;
  std::shared_ptr<Description const> description;
  PluginEntry const* plugin;
};

char const* noun(Role role) { return role == Role::encoding ? "encoding" : role == Role::scaling ? "scaling" : "task"; }

void Portrait::name(char const* name, char const* source, Role role) {
  description_.name = name;
  description_.source = source;
  description_.role = role;
}
void Portrait::summary(char const* words) { description_.summary = words; }
void Portrait::formula(char const* words) { description_.formula = words; }
void Portrait::options(OptionTable const& options) { description_.options = options.options(); }
void Portrait::takes_parts() { description_.takes_parts = true; }
void Portrait::family(bool belongs, char const* word) {
  if (belongs) family_.emplace_back(word);
}
void Portrait::law(bool claimed, char const* word, char const* meaning) {
  if (claimed) description_.laws.push_back({word, meaning});
}
void Portrait::examples(std::vector<Example> const& examples) { description_.examples = examples; }
void Portrait::equals(std::vector<Equality> const& equalities) {
  description_.equals = equalities;
  for (auto const& equality : equalities)
    description_.laws.push_back({"equals", equality.other.use + " " + equality.when});
}
Description Portrait::finish() const {
  Description out = description_;
  out.family = family_.empty() ? "none" : join(family_);
  return out;
}

namespace {
/// Kept for the life of the process: code must outlive every object, exception and virtual table that came from it.
std::vector<dll::shared_library>& kept_libraries() {
  static auto* kept = new std::vector<dll::shared_library>;
  return *kept;
}

/// The loader maps a file by its headers: one cut short would end the process, so its size is checked first.
void check_whole(fs::path const& file) {
  Elf64_Ehdr header{};
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  bool const elf = in.gcount() == sizeof header && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  if (!elf) return;  // the loader says what it is
  std::uint64_t const needed = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  expect(fs::file_size(file) >= needed, file.string(), ": is cut short: ", fs::file_size(file), " bytes, expected ",
         needed);
}

void check_tag(fs::path const& file, AbiTag const& theirs) {
  constexpr AbiTag ours = abi_tag_of_this_build();
  expect(std::strncmp(theirs.magic, ours.magic, sizeof ours.magic) == 0, file.string(),
         ": is a shared object but not a Sextant plugin");
  expect(theirs.api == ours.api, file.string(), " speaks plugin API ", theirs.api, ", this sextant speaks ", ours.api,
         ": rebuild the plugin against the installed headers");
  auto const same = [&](char const* what, auto const& found, auto const& expected) {
    expect(found == expected, file.string(), " was built with ", what, " ", found, ", this sextant with ", expected,
           ": rebuild the plugin with the same toolchain");
  };
  same("compiler", std::string(theirs.compiler), std::string(ours.compiler));
  same("standard library ABI", theirs.standard_library_abi, ours.standard_library_abi);
  same("Kokkos", theirs.kokkos_version, ours.kokkos_version);
  same("Kokkos backend", std::string(theirs.backend), std::string(ours.backend));
}

std::string described(Option const& option) {
  std::string out = option.expectation();
  if (option.fallback) out += ", default " + to_text(*option.fallback);
  return option.name + " (" + out + ")";
}
}  // namespace

Registry& Registry::global() {
  static auto* registry = [] {
    std::vector<fs::path> folders;
    auto const add = [&](fs::path const& folder) {
      std::error_code none;
      for (auto const& known : folders)
        if (fs::equivalent(known, folder, none)) return;
      folders.push_back(folder);
    };
    if (char const* path = std::getenv("SEXTANT_PLUGIN_PATH"); path && *path) {
      std::stringstream list(path);
      for (std::string folder; std::getline(list, folder, ':');)
        if (!folder.empty()) add(folder);
    }
    fs::path const here = fs::path(dll::this_line_location().string()).parent_path();
    for (fs::path const& folder : {here / "../plugins", here / "sextant/plugins"})
      if (std::error_code none; fs::is_directory(folder, none)) {
        add(folder);
        break;
      }
    auto* made = new Registry;
    for (auto const& folder : folders) made->load_folder(folder);
    return made;
  }();
  return *registry;
}

void Registry::load_folder(fs::path const& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (auto const& item : fs::directory_iterator(folder, error))
    if (item.path().extension() == ".so") files.push_back(item.path());
  if (error) loaded_.push_back({folder, "", folder.string() + ": cannot list: " + error.message()});
  std::sort(files.begin(), files.end());
  for (auto const& file : files) {
    try {
      load_file(file);
    } catch (std::exception const& refusal) {
      loaded_.push_back({file, "", refusal.what()});
    }
  }
}

void Registry::load_file(fs::path const& file) {
  std::error_code none;
  expect(fs::exists(file, none), file.string(), ": no such plugin file");
  check_whole(file);
  dll::shared_library library;
  try {
    library.load(file.string(), dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  } catch (std::exception const& error) {
    fail(file.string(), ": the loader refused it: ", error.what());
  }
  expect(library.has("sextant_plugin_abi") && library.has("sextant_plugin_entry"), file.string(),
         ": is a shared object but not a Sextant plugin (no SEXTANT_PLUGIN line)");
  check_tag(file, library.get<AbiTag const>("sextant_plugin_abi"));
  auto* const entry_of = &library.get<PluginEntry const*()>("sextant_plugin_entry");
  kept_libraries().push_back(library);
  PluginEntry const* const plugin = entry_of();
  Portrait portrait;
  plugin->describe(portrait);
  auto const description = std::make_shared<Description const>(portrait.finish());
  expect(!has(description->role, description->name), file.string(), ": ", noun(description->role), " ",
         description->name, " is already loaded from ",
         has(description->role, description->name) ? file_of(description->role, description->name).string() : "");
  entries_.push_back(std::make_shared<Entry const>(Entry{file, description, plugin}));
  loaded_.push_back({file, description->name, "", description->role});
}

std::vector<std::string> Registry::names(Role role) const {
  std::vector<std::string> out;
  for (auto const& entry : entries_)
    if (entry->description->role == role) out.push_back(entry->description->name);
  std::sort(out.begin(), out.end());
  return out;
}

bool Registry::has(Role role, std::string const& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](auto const& entry) {
    return entry->description->role == role && entry->description->name == name;
  });
}

Registry::Entry const& Registry::find(Role role, std::string const& name) const {
  for (auto const& entry : entries_)
    if (entry->description->role == role && entry->description->name == name) return *entry;
  std::vector<std::string> const known = names(role);
  std::string const near = nearest(name, known);
  fail("there is no ", noun(role), " ", name, near.empty() ? "" : "; did you mean " + near + "?",
       "; registered: ", known.empty() ? "none (is SEXTANT_PLUGIN_PATH right?)" : join(known));
}

Description const& Registry::describe(Role role, std::string const& name) const {
  return *find(role, name).description;
}
fs::path const& Registry::file_of(Role role, std::string const& name) const { return find(role, name).file; }

Choice Registry::complete(Role role, Choice const& choice) const {
  Description const& plugin = describe(role, choice.use);
  Choice out{choice.use, {}, {}};
  std::vector<std::string> names;
  for (auto const& option : plugin.options) names.push_back(option.name);
  for (auto const& [name, value] : choice.options)
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string const near = nearest(name, names);
      auto const meant = std::find_if(plugin.options.begin(), plugin.options.end(),
                                      [&](Option const& option) { return option.name == near; });
      fail(choice.use, " has no option ", name,
           near.empty() ? (names.empty() ? std::string("; it takes none") : "; it has " + join(names))
                        : "; did you mean " + described(*meant) + "?");
    }
  for (auto const& option : plugin.options) {
    auto const given = choice.options.find(option.name);
    if (given == choice.options.end()) {
      expect(option.fallback.has_value(), choice.use, " needs ", option.name, " (", option.help,
             "): ", option.expectation());
      out.options[option.name] = *option.fallback;
      continue;
    }
    try {
      out.options[option.name] = option.accept(given->second);
    } catch (Error const& error) {
      fail(choice.use, ".", option.name, " ", error.what());
    }
  }
  expect(plugin.takes_parts || choice.parts.empty(), choice.use, " takes no parts");
  expect(!plugin.takes_parts || !choice.parts.empty(), choice.use, " needs parts: a list of encodings");
  for (auto const& part : choice.parts) out.parts.push_back(complete(role, part));
  return out;
}

std::shared_ptr<Encoding const> Registry::make_encoding(Choice const& choice) const {
  Choice const full = complete(Role::encoding, choice);
  Entry const& entry = find(Role::encoding, full.use);
  std::shared_ptr<Encoding> made = entry.plugin->make_encoding(full.options);
  made->description_ = entry.description;
  made->choice_ = full;
  return made;
}

std::shared_ptr<Scaling const> Registry::make_scaling(Choice const& choice) const {
  Choice const full = complete(Role::scaling, choice);
  Entry const& entry = find(Role::scaling, full.use);
  std::shared_ptr<Scaling> made = entry.plugin->make_scaling(full.options);
  made->description_ = entry.description;
  made->choice_ = full;
  return made;
}

std::shared_ptr<Task const> Registry::make_task(Choice const& choice) const {
  Choice const full = complete(Role::task, choice);
  Entry const& entry = find(Role::task, full.use);
  std::shared_ptr<Task> made;
  try {
    made = entry.plugin->make_task(full.options);
  } catch (Error const& error) {
    fail(full.use, ": ", error.what());
  }
  made->description_ = entry.description;
  made->choice_ = full;
  return made;
}

}  // namespace sextant::encoding
