#include <sextant/spec/table.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using encoding::Option;

std::string last(std::string const& path) { return path.substr(path.rfind('.') + 1); }

// "mlp (a block)" or "layers (a whole number >= 1, required)".
std::string introduce_key(std::string const& path, KeyTable const& keys) {
  for (auto const* option : keys.leaves)
    if (option->name == path) {
      Option named = *option;
      named.name = last(path);
      return introduce(named);
    }
  return last(path) + " (a block)";
}

// rate for lerning_rate: a known key that is one of the words joined by _.
std::string known_word(std::string const& key, std::vector<std::string> const& known) {
  for (auto const& candidate : known)
    if (candidate.size() > 3 && ("_" + key + "_").find("_" + candidate + "_") != std::string::npos) return candidate;
  return "";
}

[[noreturn]] void refuse_key(Entry const& entry, std::string const& path, std::string const& relative,
                             KeyTable const& keys) {
  auto const siblings = keys.children(relative);
  std::string near = nearest(entry.key, siblings);
  if (near.empty()) near = known_word(entry.key, siblings);
  std::string hint;
  if (!near.empty()) hint = "; did you mean " + introduce_key(below(relative, near), keys) + "?";
  for (auto const* option : keys.leaves)
    if (hint.empty() && last(option->name) == entry.key) hint = "; it belongs at " + option->name;
  if (hint.empty()) hint = "; known: " + join(siblings);
  std::string const owner = path.empty() ? "a spec" : path;
  fail(entry.place.text(), ": ", below(path, entry.key), ": ", owner, " has no key ", entry.key, hint);
}

void check_below(Node const& node, std::string const& path, std::string const& relative, KeyTable const& keys) {
  if (!node.is_map())
    fail(node.place.text(), ": ", path.empty() ? "the spec" : path, " is ", found(node), ", expected a block with ",
         join(keys.children(relative)));
  for (auto const& entry : node.entries) {
    std::string const name = below(relative, entry.key);
    bool const special = std::find(keys.special.begin(), keys.special.end(), name) != keys.special.end();
    if (special || keys.is_leaf(name)) continue;
    if (!keys.is_block(name)) refuse_key(entry, path, relative, keys);
    check_below(entry.value, below(path, entry.key), name, keys);
  }
}
}  // namespace

bool KeyTable::is_leaf(std::string const& path) const {
  return std::any_of(leaves.begin(), leaves.end(), [&](Option const* option) { return option->name == path; });
}

bool KeyTable::is_block(std::string const& path) const {
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](Option const* option) { return option->name.starts_with(path + "."); });
}

std::vector<std::string> KeyTable::children(std::string const& path) const {
  std::vector<std::string> names;
  auto const add = [&](std::string const& full) {
    std::string const prefix = path.empty() ? "" : path + ".";
    if (!full.starts_with(prefix)) return;
    std::string name = full.substr(prefix.size());
    name = name.substr(0, name.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (auto const* option : leaves) add(option->name);
  for (auto const& name : special) add(name);
  return names;
}

void check_keys(Node const& root, std::string const& path, KeyTable const& keys) { check_below(root, path, "", keys); }

void replace_places(Node& node, Place const& place) {
  node.place = place;
  for (auto& item : node.items) replace_places(item, place);
  for (auto& entry : node.entries) {
    entry.place = place;
    replace_places(entry.value, place);
  }
}

Node const* find_node(Node const& root, std::string const& path) {
  auto const dot = path.find('.');
  Node const* const next = root.find(path.substr(0, dot));
  return dot == std::string::npos || !next ? next : find_node(*next, path.substr(dot + 1));
}

void fail_missing(Node const& root, std::string const& path, Option const& option, KeyTable const& keys) {
  Node const* at = &root;
  std::string missing;
  for (std::size_t begin = 0; at;) {  // walk down as far as the document goes
    auto const dot = option.name.find('.', begin);
    missing = option.name.substr(0, dot);
    Node const* const next = at->find(option.name.substr(begin, dot == std::string::npos ? dot : dot - begin));
    if (!next || dot == std::string::npos) break;
    at = next;
    begin = dot + 1;
  }
  std::string const expected =
      missing == option.name ? expectation(option) : "a block with " + join(keys.children(missing));
  fail(at->place.text(), ": ", below(path, missing), " is missing, expected ", expected);
}

}  // namespace sextant::spec
