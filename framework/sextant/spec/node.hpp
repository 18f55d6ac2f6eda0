// A YAML document as a tree that remembers where everything stood. Nothing in it is interpreted: `8`, "8" and no are
// texts, plain or quoted, until a field of the schema asks for its kind.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sextant::spec {

/// Where something was written: file:line:column, counted from 1, or a command-line argument (line 0).
struct Place {
  std::string source;
  int line = 0, column = 0;
  std::string text() const;
};

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Place place;
  std::string text;            ///< of a scalar
  bool quoted = false;         ///< a quoted scalar is text, never a number, a boolean or `auto`
  std::vector<Node> items;     ///< of a list
  std::vector<Entry> entries;  ///< of a map, in the order of the file; keys are distinct

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  /// A scalar that may mean something: not in quotes.
  bool is_plain(std::string_view word) const { return is_scalar() && !quoted && text == word; }
  Node const* find(std::string_view key) const;
  /// Removes and returns an entry's value; a null node when there is none.
  Node take(std::string_view key);

  static Node scalar(std::string text, Place const& place);
  static Node map(Place const& place);
};

struct Entry {
  std::string key;
  Place place;  ///< of the key
  Node value;
};

/// How a message names what was found: 8, the text "8", a list, a block, nothing.
std::string found(Node const& node);

/// path + "." + key; the key alone when path is empty.
std::string below(std::string const& path, std::string const& key);

/// Puts `value` at a dotted path, adding blocks on the way. A number or a name (`name`, `use`, `id`) picks an item of a list,
/// and a plugin named by a word becomes {use: word} when one of its options is set. `at` is the place that a message
/// about the path gives. Throws Error where the path leads through a value.
void put(Node& root, std::string const& path, Node value, Place const& at);

/// The node at a dotted path, or the nearest one above it that exists.
Node const& nearest_node(Node const& root, std::string const& path);

/// The tree on one line, as YAML that reads back to the same tree.
std::string flow_text(Node const& node);
/// A text as a YAML scalar that reads back as this text: plain when it can be, else in double quotes.
std::string quote(std::string const& text);

}  // namespace sextant::spec
