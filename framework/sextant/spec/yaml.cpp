#include <sextant/base/error.hpp>
#include <sextant/spec/yaml.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>
#include <sstream>

namespace sextant::spec {
namespace {

// Builds the tree from the parser's events: yaml-cpp's own Node keeps both of two equal keys and shows only one.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string source) : source_(std::move(source)) {}

  Node root;
  int documents = 0;
  /// The key last read, to say where a syntax error struck.
  std::string last_key;

  void OnDocumentStart(YAML::Mark const& mark) override {
    expect(++documents == 1, place(mark).text(), ": a second document begins here, expected one document a file");
  }
  void OnDocumentEnd() override {}
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override {
    fail(place(mark).text(), ": ", where(), "an alias (*name), expected the value itself: aliases are not read");
  }
  void OnAnchor(YAML::Mark const& mark, std::string const& name) override {
    fail(place(mark).text(), ": ", where(), "an anchor (&", name, "), expected the value alone: anchors are not read");
  }
  void OnNull(YAML::Mark const& mark, YAML::anchor_t) override {
    expect(!wants_key(), place(mark).text(), ": ", where(), "an empty key, expected a word (null needs quotes)");
    Node node;
    node.place = place(mark);
    add(std::move(node));
  }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t, std::string const& value) override {
    refuse_tag(mark, tag);
    if (wants_key()) return key(mark, value);
    Node node = Node::scalar(value, place(mark));
    node.quoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::list);
  }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    std::string path;
    bool have_key = false;
  };

  Place place(YAML::Mark const& mark) const { return {source_, mark.line + 1, mark.column + 1}; }
  bool wants_key() const { return !stack_.empty() && stack_.back().node.is_map() && !stack_.back().have_key; }
  std::string path() const {
    if (stack_.empty()) return "";
    Frame const& top = stack_.back();
    if (top.node.is_list()) return below(top.path, std::to_string(top.node.items.size()));
    return top.have_key ? below(top.path, top.node.entries.back().key) : top.path;
  }
  std::string where() const { return path().empty() ? "" : path() + " has "; }

  void refuse_tag(YAML::Mark const& mark, std::string const& tag) const {
    bool const none = tag.empty() || tag == "?" || tag == "!";
    expect(none, place(mark).text(), ": ", where(), "the tag ", tag, ", expected a value alone: tags are not read");
  }
  void key(YAML::Mark const& mark, std::string const& name) {
    Frame& top = stack_.back();
    last_key = below(top.path, name);
    for (auto const& entry : top.node.entries)
      expect(entry.key != name, place(mark).text(), ": ", last_key, " is given twice, on lines ", entry.place.line,
             " and ", mark.line + 1, "; expected once");
    top.node.entries.push_back({name, place(mark), {}});
    top.have_key = true;
  }
  void open(YAML::Mark const& mark, std::string const& tag, Node::Kind kind) {
    refuse_tag(mark, tag);
    expect(!wants_key(), place(mark).text(), ": ", where(), "a list or block as a key, expected a word");
    expect(stack_.size() < 64, place(mark).text(), ": nested more than 64 deep");
    Frame frame{{}, path()};
    frame.node.kind = kind;
    frame.node.place = place(mark);
    stack_.push_back(std::move(frame));
  }
  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }
  void add(Node node) {
    if (stack_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& top = stack_.back();
    if (top.node.is_list()) {
      top.node.items.push_back(std::move(node));
    } else {
      top.node.entries.back().value = std::move(node);
      top.have_key = false;
    }
  }

  std::string source_;
  std::vector<Frame> stack_;
};

void refuse_tabs(std::string const& text, std::string const& source) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    auto const first = line.find_first_not_of(" \t\r");
    auto const tab = line.find('\t');
    if (first == std::string::npos || line[first] == '#' || tab == std::string::npos || tab > first) continue;
    fail(source, ":", number, ":", tab + 1, ": a tab in the indentation, expected spaces");
  }
}

}  // namespace

Node parse_yaml(std::string const& text, std::string const& source) {
  refuse_tabs(text, source);
  auto const zero = text.find('\0');
  expect(zero == std::string::npos, source, ": a zero byte at ", zero, ", expected text");
  Builder builder(source);
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (YAML::Exception const& error) {
    std::string const after = builder.last_key.empty() ? "" : ", after the key " + builder.last_key;
    fail(source, ":", error.mark.line + 1, ":", error.mark.column + 1, ": not YAML: ", error.msg, after);
  }
  expect(builder.documents == 1 && builder.root.kind != Node::Kind::null, source,
         ":1:1: found nothing, expected a document");
  return std::move(builder.root);
}

}  // namespace sextant::spec
