// A strict little parser for the tests: what it accepts is balanced, quoted and escaped.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;  // unescaped
  std::string text;                               // of this element and all inside it, unescaped
  bool has_class(std::string const& name) const;
};

struct Markup {
  std::vector<Element> elements;    // in document order
  std::vector<std::string> faults;  // empty for well-formed input
  std::vector<Element> named(std::string const& name) const;
  std::vector<Element> with_class(std::string const& name) const;
};

/// html: knows void elements, <!DOCTYPE> and the raw text of script and style; else XML, where every tag closes.
Markup parse_markup(std::string_view source, bool html);

}  // namespace sextant::test
