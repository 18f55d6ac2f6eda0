#include <sextant/base/error.hpp>
#include <sextant/dialect/fields.hpp>
#include <sextant/dialect/gguf_keys.hpp>

#include <algorithm>
#include <sstream>

namespace sextant::dialect {
namespace {
using spec::Node;

std::string without_blanks(std::string const& text) {
  auto const begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// [a, b, c]
Node list_of(std::string const& value, spec::Place const& at) {
  expect(value.back() == ']', at.text(), ": found ", value, ", expected a list that ends with ]");
  Node out;
  out.kind = Node::Kind::list;
  out.place = at;
  std::istringstream items(value.substr(1, value.size() - 2));
  for (std::string item; std::getline(items, item, ',');) out.items.push_back(Node::scalar(without_blanks(item), at));
  return out;
}

Node from_lines(std::string const& text, std::string const& source) {
  Node map = Node::map({source, 1, 1});
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string rest = line.substr(0, without_blanks(line).starts_with('#') ? 0 : std::string::npos);
    auto const equals = rest.find('=');
    if (without_blanks(rest).empty()) continue;
    spec::Place place{source, number, 1};
    expect(equals != std::string::npos, place.text(), ": found a line without =, expected key = value");
    auto const bar = rest.rfind('|', equals);
    std::string const key = without_blanks(
        rest.substr(bar == std::string::npos ? 0 : bar + 1, equals - (bar == std::string::npos ? 0 : bar + 1)));
    std::string value = without_blanks(rest.substr(equals + 1));
    place.column = static_cast<int>(line.find(key)) + 1;
    expect(!map.find(key), place.text(), ": ", key, " is given twice, expected once");
    bool const quoted = value.size() >= 2 && (value[0] == '\'' || value[0] == '"') && value.back() == value[0];
    if (quoted) value = value.substr(1, value.size() - 2);
    spec::Place const at{source, number, static_cast<int>(line.find(value, equals)) + 1};
    Node node = !quoted && value.starts_with('[') ? list_of(value, at)
                                                  : Node::scalar(value == "True"    ? "true"
                                                                 : value == "False" ? "false"
                                                                                    : value,
                                                                 at);
    node.quoted = quoted;
    map.entries.push_back({key, place, std::move(node)});
  }
  return map;
}
}  // namespace

Node gguf_entries(std::string const& text, std::string const& source) {
  auto const first = text.find_first_not_of(" \t\r\n");
  expect(first != std::string::npos, source, ":1:1: found nothing, expected keys");
  if (text[first] != '{') return from_lines(text, source);
  Node root = parse_json(text, source);
  Node const* const metadata = root.find("metadata");
  if (!metadata || !metadata->is_map()) return root;
  Node map = Node::map(metadata->place);
  for (auto const& entry : metadata->entries) {
    Node const* const value = entry.value.find("value");
    if (value) map.entries.push_back({entry.key, entry.place, *value});
  }
  return map;
}

bool gguf_turns_neighbours(std::string const& architecture) {
  // llama_model_rope_type of llama.cpp, the architectures of its NORM group that this project meets.
  static std::vector<std::string> const neighbours = {
      "llama",      "llama4",    "mistral3", "mistral4",   "deci",    "baichuan", "starcoder", "internlm2", "minicpm",
      "xverse",     "command-r", "cohere2",  "olmo",       "arctic",  "deepseek", "deepseek2", "chatglm",   "granite",
      "granitemoe", "chameleon", "plm",      "bailingmoe", "smollm3", "arcee",    "ernie4_5",  "plamo",     "orion"};
  return std::find(neighbours.begin(), neighbours.end(), architecture) != neighbours.end();
}

}  // namespace sextant::dialect
