#include <sextant/base/error.hpp>
#include <sextant/spec/node.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
std::pair<std::string, std::string> split(std::string const& path) {
  auto const dot = path.find('.');
  return dot == std::string::npos ? std::pair{path, std::string()}
                                  : std::pair{path.substr(0, dot), path.substr(dot + 1)};
}

bool answers_to(Node const& item, std::string const& name) {
  if (item.is_scalar()) return item.text == name;
  for (char const* key : {"name", "use", "id"})
    if (Node const* value = item.find(key)) return value->is_scalar() && value->text == name;
  return false;
}

// The item that a path component picks: its number from 0, or its name.
Node* pick(Node& list, std::string const& which) {
  if (!which.empty() && which.size() < 7 &&
      std::all_of(which.begin(), which.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::size_t const i = std::stoul(which);
    return i < list.items.size() ? &list.items[i] : nullptr;
  }
  for (auto& item : list.items)
    if (answers_to(item, which)) return &item;
  return nullptr;
}

bool is_word(std::string const& text) {
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto const inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), inner) && text != "null" &&
         text != "Null" && text != "NULL" && text != "auto";
}
// Plain text that means the same inside [ ] and { }: numbers, units, words.
bool is_safe_plain(std::string const& text) {
  auto const safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("_+-./ %").find(c) < 7;
  };
  return !text.empty() && text.front() != ' ' && text.front() != '%' && text.back() != ' ' && text != "-" &&
         text.substr(0, 2) != "- " && text.substr(0, 3) != "---" && std::all_of(text.begin(), text.end(), safe);
}
}  // namespace

std::string Place::text() const {
  return line ? source + ":" + std::to_string(line) + ":" + std::to_string(column) : source;
}

Node const* Node::find(std::string_view key) const {
  for (auto const& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Node Node::take(std::string_view key) {
  auto const at = std::find_if(entries.begin(), entries.end(), [&](Entry const& entry) { return entry.key == key; });
  if (at == entries.end()) return {};
  Node value = std::move(at->value);
  entries.erase(at);
  return value;
}

Node Node::scalar(std::string text, Place const& place) {
  Node node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.place = place;
  return node;
}

Node Node::map(Place const& place) {
  Node node;
  node.kind = Kind::map;
  node.place = place;
  return node;
}

std::string found(Node const& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a block";
    case Node::Kind::scalar:
      break;
  }
  std::string shown = node.text.substr(0, 60);
  if (shown.size() < node.text.size()) shown += "...";
  return node.quoted ? "the text \"" + shown + "\"" : shown;
}

std::string below(std::string const& path, std::string const& key) { return path.empty() ? key : path + "." + key; }

void put(Node& root, std::string const& path, Node value, Place const& at) {
  auto const [key, rest] = split(path);
  expect(!key.empty(), at.text(), ": an empty name in the key path");
  if (root.kind == Node::Kind::null) root = Node::map(at);
  if (root.is_scalar() && !root.text.empty()) {
    Node name = root;
    root = Node::map(name.place);
    root.entries.push_back({"use", name.place, name});
  }
  Node* next = nullptr;
  if (root.is_list()) {
    next = pick(root, key);
    expect(next, at.text(), ": the list has no item ", key, "; it has ", root.items.size(), ", counted from 0");
  } else {
    for (auto& entry : root.entries)
      if (entry.key == key) {
        next = &entry.value;
        if (rest.empty()) entry.place = at;
      }
    if (!next) {
      root.entries.push_back({key, at, {}});
      next = &root.entries.back().value;
    }
  }
  if (rest.empty())
    *next = std::move(value);
  else
    put(*next, rest, std::move(value), at);
}

Node const& nearest_node(Node const& root, std::string const& path) {
  auto const [key, rest] = split(path);
  Node const* next = root.is_list() ? pick(const_cast<Node&>(root), key) : root.find(key);
  if (!next) return root;
  return rest.empty() ? *next : nearest_node(*next, rest);
}

std::string quote(std::string const& text) {
  if (is_word(text)) return text;
  static char const hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      out += "\\x", out += hex[byte >> 4], out += hex[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

std::string flow_text(Node const& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar: {
      bool const meant = node.text == "true" || node.text == "false" || node.text == "auto";
      if (node.quoted && meant) return "\"" + node.text + "\"";
      return !node.quoted && is_safe_plain(node.text) ? node.text : quote(node.text);
    }
    case Node::Kind::list:
      for (auto const& item : node.items) out += (out.empty() ? "" : ", ") + flow_text(item);
      return "[" + out + "]";
    case Node::Kind::map:
      for (auto const& entry : node.entries)
        out += (out.empty() ? "" : ", ") + quote(entry.key) + ": " + flow_text(entry.value);
      return "{" + out + "}";
  }
  return out;
}

}  // namespace sextant::spec
