// Finds plugins, loads them and makes encodings, scalings and tasks by name.
#pragma once
#include <sextant/encoding/choice.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sextant::encoding {

class Encoding;
class Scaling;
class Task;

enum class Role { encoding, scaling, task };
inline constexpr Role all_roles[] = {Role::encoding, Role::scaling, Role::task};
/// "encoding", "scaling", "task".
char const* noun(Role role);

/// One promise of a plugin that `plugin check` holds it to and `describe` prints.
struct Law {
  std::string name, meaning;
};

/// Options, and parts where the plugin takes some, that make something sensible of it. Given by plugins with required
/// options, or with options that only work together; `plugin check` starts from them.
struct Example {
  Options options;
  std::vector<Choice> parts;
};

/// A promise that with these options the plugin is another encoding (a scaling: changes nothing), for freshly drawn
/// parameters, under a causal mask. `plugin check` holds the plugin to it.
struct Equality {
  std::string when;  ///< in words: "with trained frequencies at their start"
  Example example;   ///< of this plugin
  Choice other;
  std::map<std::string, double> fill;  ///< parameters of this plugin set to one number first, by the end of their names
};

/// What `list` and `describe` print of a plugin.
struct Description {
  std::string name, source, summary, formula, family;
  Role role = Role::encoding;
  std::vector<Option> options;
  std::vector<Law> laws;
  std::vector<Example> examples;
  std::vector<Equality> equals;
  bool takes_parts = false;  ///< a composite: the spec gives `parts`, a list of encodings
};

/// Builds a Description from what a plugin says, part by part: none of its code is compiled with every plugin.
class Portrait {
 public:
  void name(char const* name, char const* source, Role role);
  void summary(char const* words);
  void formula(char const* words);
  void options(OptionTable const& options);
  void takes_parts();
  void family(bool belongs, char const* word);
  void law(bool claimed, char const* word, char const* meaning);
  void examples(std::vector<Example> const& examples);
  void equals(std::vector<Equality> const& equalities);  ///< after all laws
  Description finish() const;

 private:
  Description description_;
  std::vector<std::string> family_;
};

struct Loaded {
  std::filesystem::path file;
  std::string name;   ///< empty when it did not load
  std::string error;  ///< the loader's own words when it did not load
  Role role = Role::encoding;
};

/// The plugins of this process. A library once loaded stays loaded, so nothing made from it can outlive its code.
class Registry {
 public:
  /// Loads the search path: $SEXTANT_PLUGIN_PATH (colon separated), then the plugins that came with this library (build
  /// tree or install prefix). A name that an earlier folder has stays with it; a broken file is recorded and passed over.
  static Registry& global();

  Registry() = default;
  void load_folder(std::filesystem::path const& folder);
  /// Loads one file. Throws Error with the path, both versions where known and the loader's own text.
  void load_file(std::filesystem::path const& file);

  std::vector<Loaded> const& loaded() const { return loaded_; }
  std::vector<std::string> names(Role role) const;
  bool has(Role role, std::string const& name) const;
  /// Throws Error with the nearest registered name.
  Description const& describe(Role role, std::string const& name) const;
  std::filesystem::path const& file_of(Role role, std::string const& name) const;

  /// Every option present, checked and defaulted. Errors name the option: "alibi has no option train_slope; did you
  /// mean train_slopes (true or false, default false)?" and "alibi.slope_scale is -0.5, expected a number > 0".
  Choice complete(Role role, Choice const& choice) const;

  std::shared_ptr<Encoding const> make_encoding(Choice const& choice) const;
  std::shared_ptr<Scaling const> make_scaling(Choice const& choice) const;
  std::shared_ptr<Task const> make_task(Choice const& choice) const;

  struct Entry;

 private:
  Entry const& find(Role role, std::string const& name) const;
  std::vector<std::shared_ptr<Entry const>> entries_;
  std::vector<Loaded> loaded_;
};

}  // namespace sextant::encoding
