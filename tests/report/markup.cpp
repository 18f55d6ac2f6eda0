#include "markup.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace sextant::test {
namespace {
bool name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':'; }

class Parser {
 public:
  Parser(std::string_view source, bool html) : source_(source), html_(html) {}

  Markup run() {
    while (at_ < source_.size()) {
      if (source_[at_] != '<') {
        std::size_t const end = std::min(source_.find('<', at_), source_.size());
        text(source_.substr(at_, end - at_));
        at_ = end;
      } else if (source_.substr(at_).starts_with("<!DOCTYPE") || source_.substr(at_).starts_with("<?xml")) {
        at_ = std::min(source_.find('>', at_), source_.size() - 1) + 1;
      } else {
        tag();
      }
    }
    for (std::size_t const open : open_) fault("<" + out_.elements[open].name + "> is never closed");
    return out_;
  }

 private:
  void fault(std::string const& what) {
    if (out_.faults.size() < 5)
      out_.faults.push_back(what + " near \"" + std::string(source_.substr(at_ > 40 ? at_ - 40 : 0, 80)) + "\"");
  }

  std::string unescaped(std::string_view raw) {
    static std::map<std::string, std::string> const known{
        {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"#39", "'"}};
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '&') {
        out += raw[i];
        continue;
      }
      std::size_t const end = raw.find(';', i);
      auto const hit =
          end == std::string_view::npos ? known.end() : known.find(std::string(raw.substr(i + 1, end - i - 1)));
      if (hit == known.end()) {
        fault("a bare &");
        continue;
      }
      out += hit->second;
      i = end;
    }
    return out;
  }

  void text(std::string_view raw) {
    std::string const plain = unescaped(raw);
    if (open_.empty() && plain.find_first_not_of(" \n") != std::string::npos) fault("text outside the root");
    for (std::size_t const open : open_) out_.elements[open].text += plain;
  }

  void tag() {
    ++at_;
    bool const closing = at_ < source_.size() && source_[at_] == '/';
    if (closing) ++at_;
    std::string name;
    while (at_ < source_.size() && name_char(source_[at_])) name += source_[at_++];
    if (name.empty()) return fault("< without a name");
    if (closing) {
      if (open_.empty() || out_.elements[open_.back()].name != name)
        fault("</" + name + "> closes nothing");
      else
        open_.pop_back();
      at_ = std::min(source_.find('>', at_), source_.size() - 1) + 1;
      return;
    }
    Element element{name, {}, ""};
    bool self_closed = false;
    while (at_ < source_.size() && source_[at_] != '>') {
      if (source_[at_] == '/')
        self_closed = true, ++at_;
      else if (source_[at_] == ' ' || source_[at_] == '\n')
        ++at_;
      else if (!attribute(element))
        return;
    }
    ++at_;
    static std::set<std::string> const voids{"meta", "link", "br", "hr", "img", "input", "wbr"};
    out_.elements.push_back(element);
    if (self_closed || (html_ && voids.contains(name))) return;
    open_.push_back(out_.elements.size() - 1);
    if (name != "script" && name != "style") return;
    std::size_t const end = source_.find("</" + name + ">", at_);
    if (end == std::string_view::npos) return fault(name + " has no end");
    out_.elements.back().text = source_.substr(at_, end - at_);
    at_ = end;
  }

  bool attribute(Element& element) {
    std::string name;
    while (at_ < source_.size() && name_char(source_[at_])) name += source_[at_++];
    if (name.empty() || source_.substr(at_, 2) != "=\"") {
      fault("an attribute of <" + element.name + "> is not name=\"value\"");
      at_ = source_.size();
      return false;
    }
    at_ += 2;
    std::size_t const end = std::min(source_.find('"', at_), source_.size() - 1);
    std::string_view const raw = source_.substr(at_, end - at_);
    if (raw.find('<') != std::string_view::npos) fault("a bare < in an attribute");
    if (!element.attributes.emplace(name, unescaped(raw)).second) fault("attribute " + name + " twice");
    at_ = end + 1;
    return true;
  }

  std::string_view source_;
  bool html_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  Markup out_;
};
}  // namespace

bool Element::has_class(std::string const& wanted) const {
  auto const at = attributes.find("class");
  if (at == attributes.end()) return false;
  std::istringstream words(at->second);
  for (std::string word; words >> word;)
    if (word == wanted) return true;
  return false;
}

std::vector<Element> Markup::named(std::string const& wanted) const {
  std::vector<Element> out;
  std::copy_if(elements.begin(), elements.end(), std::back_inserter(out),
               [&](Element const& e) { return e.name == wanted; });
  return out;
}

std::vector<Element> Markup::with_class(std::string const& wanted) const {
  std::vector<Element> out;
  std::copy_if(elements.begin(), elements.end(), std::back_inserter(out),
               [&](Element const& e) { return e.has_class(wanted); });
  return out;
}

Markup parse_markup(std::string_view source, bool html) { return Parser(source, html).run(); }

}  // namespace sextant::test
