#include <sextant/base/error.hpp>
#include <sextant/spec/yaml.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

namespace sextant {
namespace {
using Catch::Matchers::Message;
using spec::Node;
using spec::parse_yaml;

TEST_CASE("yaml: a key given twice is refused with both lines, at the top, deep down and inside a list",
          "[spec][R45]") {
  CHECK_THROWS_MATCHES(parse_yaml("a: 1\nb: 2\na: 3\n", "f"), Error,
                       Message("f:3:1: a is given twice, on lines 1 and 3; expected once"));
  CHECK_THROWS_MATCHES(parse_yaml("a:\n  b:\n    c: 1\n    d: 2\n    c: 1\n", "f"), Error,
                       Message("f:5:5: a.b.c is given twice, on lines 3 and 5; expected once"));
  CHECK_THROWS_MATCHES(parse_yaml("a:\n  - x: 1\n  - {x: 1, y: 2, x: 1}\n", "f"), Error,
                       Message("f:3:18: a.1.x is given twice, on lines 3 and 3; expected once"));
  CHECK_THROWS_MATCHES(parse_yaml("a: 1\n'a': 2\n", "f"), Error,
                       Message("f:2:1: a is given twice, on lines 1 and 2; expected once"));
}

TEST_CASE("yaml: words that YAML 1.1 takes for booleans stay words, as keys and as values", "[spec][R47]") {
  Node const root = parse_yaml("y: no\noff: on\nn: ~\n", "f");
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].key == "y");
  CHECK(root.entries[0].value.text == "no");
  CHECK(root.entries[1].key == "off");
  CHECK(root.entries[1].value.text == "on");
  CHECK(root.entries[2].value.kind == Node::Kind::null);
}

TEST_CASE("yaml: every node knows its line and column, and whether it was quoted", "[spec][R48]") {
  Node const root = parse_yaml("model:\n  width: 64\n  name: \"64\"\nlist:\n  - [1,\n     2]\n", "f");
  Node const& model = root.entries[0].value;
  CHECK(model.entries[0].place.text() == "f:2:3");
  CHECK(model.entries[0].value.place.text() == "f:2:10");
  CHECK_FALSE(model.entries[0].value.quoted);
  CHECK(model.entries[1].value.quoted);
  CHECK(root.entries[1].value.items[0].items[1].place.text() == "f:6:6");
}

TEST_CASE("yaml: faults of form name file, line, column and the key that they follow", "[spec][R48]") {
  CHECK_THROWS_MATCHES(parse_yaml("", "f"), Error, Message("f:1:1: found nothing, expected a document"));
  CHECK_THROWS_MATCHES(parse_yaml("# only a comment\n", "f"), Error,
                       Message("f:1:1: found nothing, expected a document"));
  CHECK_THROWS_MATCHES(parse_yaml("a:\n\tb: 1\n", "f"), Error,
                       Message("f:2:1: a tab in the indentation, expected spaces"));
  CHECK_THROWS_MATCHES(parse_yaml("a: 1\n---\nb: 2\n", "f"), Error,
                       Message("f:2:1: a second document begins here, expected one document a file"));
  CHECK_THROWS_MATCHES(parse_yaml("a: &x 1\nb: *x\n", "f"), Error,
                       Message("f:1:4: a has an anchor (&x), expected the value alone: anchors are not read"));
  CHECK_THROWS_MATCHES(
      parse_yaml("a: !!str 1\n", "f"), Error,
      Message("f:1:4: a has the tag tag:yaml.org,2002:str, expected a value alone: tags are not read"));
  CHECK_THROWS_MATCHES(parse_yaml("a: 1\nb: [1, 2\nc: 3\n", "f"), Error,
                       Message("f:3:2: not YAML: end of sequence flow not found, after the key b"));
  CHECK_THROWS_MATCHES(parse_yaml("? [a, b]\n: 1\n", "f"), Error,
                       Message("f:1:3: a list or block as a key, expected a word"));
  CHECK_THROWS_AS(parse_yaml(std::string(2000, '['), "f"), Error);
  CHECK_THROWS_AS(parse_yaml(std::string("a: \0b", 5), "f"), Error);
}

TEST_CASE("yaml: a tree written on one line reads back to itself", "[spec]") {
  char const* const source = "a: [1, two, \"3\", 4096 tokens, {b: \"no: #\", 'c d': auto}, \"auto\", 'tr\"ue']\n";
  Node const once = parse_yaml(source, "f");
  Node const again = parse_yaml(flow_text(once), "g");
  CHECK(flow_text(again) == flow_text(once));
  Node const& list = again.entries[0].value;
  CHECK_FALSE(list.items[0].quoted);
  CHECK(list.items[2].quoted);
  CHECK_FALSE(list.items[3].quoted);
  CHECK(list.items[4].entries[0].value.text == "no: #");
  CHECK(list.items[5].quoted);
  CHECK(list.items[6].text == "tr\"ue");
}
}  // namespace
}  // namespace sextant
