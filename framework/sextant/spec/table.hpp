// Reads a block by a table of fields: unknown keys first, then values, then what follows from others.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/spec/field.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant::spec {

/// The keys a table knows, as dotted paths with their options: what messages about keys need of it.
struct KeyTable {
  std::vector<encoding::Option const*> leaves;
  std::vector<std::string> special;

  bool is_leaf(std::string const& path) const;
  bool is_block(std::string const& path) const;
  std::vector<std::string> children(std::string const& path) const;
};

/// Throws Error for a key that the table does not know, with the nearest known one, and for a value where a block
/// belongs. `root` stands at `path` of the document.
void check_keys(Node const& root, std::string const& path, KeyTable const& keys);

/// The node at a dotted path below root; nullptr when it is not given.
Node const* find_node(Node const& root, std::string const& path);

/// Throws Error: the value at `name` is missing, or the whole block that it belongs to.
[[noreturn]] void fail_missing(Node const& root, std::string const& path, encoding::Option const& option,
                               KeyTable const& keys);

template <class S, class Special>
void read_table(S& s, Node const& root, std::string const& path, std::vector<Field<S>> const& fields,
                std::vector<Special> const& special, Reading& reading) {
  KeyTable keys;
  for (auto const& field : fields) keys.leaves.push_back(&field.option);
  for (auto const& key : special) keys.special.push_back(key.name);
  check_keys(root, path, keys);
  std::vector<Field<S> const*> unsettled;
  for (auto const& field : fields) {
    Node const* const node = find_node(root, field.name());
    if (field.settle && (!node || node->is_plain("auto"))) {
      unsettled.push_back(&field);
    } else if (node) {
      reading.given[below(path, field.name())] = node->place.text();
      field.read(s, *node, below(path, field.name()), reading);
    } else if (field.required()) {
      fail_missing(root, path, field.option, keys);
    }
  }
  for (auto const* field : unsettled) field->settle(s);
}

}  // namespace sextant::spec
