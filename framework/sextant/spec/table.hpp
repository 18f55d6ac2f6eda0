// Reads a block by a table of fields: unknown keys first, then values, then what follows from others.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/spec/field.hpp>

#include <algorithm>
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

/// Says of a node and all below it that they stand at `place`: they came from there.
void replace_places(Node& node, Place const& place);

/// Throws Error: the value at `name` is missing, or the whole block that it belongs to.
[[noreturn]] void fail_missing(Node const& root, std::string const& path, encoding::Option const& option,
                               KeyTable const& keys);

/// `special` are keys that are known and read elsewhere.
template <class S>
void read_table(S& s, Node const& root, std::string const& path, std::vector<Field<S>> const& fields,
                std::vector<std::string> const& special, Reading& reading) {
  KeyTable keys;
  for (auto const& field : fields) keys.leaves.push_back(&field.option);
  keys.special = special;
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

/// A field that holds a list of blocks, each read by a table of its own. `unit` names the list, `example` is an item.
template <class S, class Item, class Get>
Field<S> items_field(std::string name, std::string help, std::string unit, Get get,
                     std::vector<Field<Item>> const& (*fields)(), std::string example) {
  Field<S> field;
  field.option.name = std::move(name);
  field.option.help = std::move(help);
  field.option.unit = unit;
  field.read = [=](S& s, Node const& node, std::string const& path, Reading& reading) {
    if (!node.is_list() || node.items.empty())
      fail(node.place.text(), ": ", path, " is ", node.is_list() ? "an empty list" : found(node), ", expected ", unit,
           " such as ", example);
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Item item;
      read_table(item, node.items[i], below(path, std::to_string(i)), fields(), {}, reading);
      get(s).push_back(std::move(item));
    }
  };
  field.write = [=](S const& s, std::string const& path, Reading const& reading) {
    std::string const indent(2 + 2 * static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')), ' ');
    Written out;
    for (std::size_t i = 0; i < get(s).size(); ++i) {
      std::string const at = below(path, std::to_string(i));
      std::vector<std::string> defaulted;
      out.text += "\n" + indent + "- {";
      for (auto const& key : fields()) {
        out.text += (out.text.back() == '{' ? "" : ", ") + key.name() + ": ";
        out.text += key.write(get(s)[i], at, reading).text;
        if (!reading.given.contains(below(at, key.name()))) defaulted.push_back(key.name());
      }
      out.text += defaulted.empty() ? "}" : "}  # default: " + join(defaulted);
    }
    return out;
  };
  return field;
}

}  // namespace sextant::spec
