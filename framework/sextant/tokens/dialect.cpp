// From Oniguruma's dialect to PCRE2's.
#include <array>
#include <sextant/base/error.hpp>
#include <sextant/tokens/pattern.hpp>

namespace sextant::tokens {
namespace {

constexpr std::string_view white_space = R"(\t-\r\x{20}\x{85}\p{Z})";  // property White_Space, inside brackets

class Translation {
 public:
  explicit Translation(std::string const& from) : from_(from) {}

  std::string run() {
    while (at_ < from_.size()) step();
    refuse_if(in_class_, "a bracket that does not close");
    return to_;
  }

 private:
  void refuse_if(bool wrong, std::string const& what) const {
    expect(!wrong, "pattern ", from_, ": ", what, " at character ", at_, ", which Sextant does not read");
  }
  bool next_is(std::string_view what) const { return from_.compare(at_, what.size(), what) == 0; }
  void take(std::size_t n) {
    to_.append(from_, at_, n);
    at_ += n;
  }

  void step() {
    if (from_[at_] == '\\') return escape();
    if (in_class_) return inside_class();
    if (from_[at_] == '[') {
      in_class_ = true;
      take(next_is("[^") ? 2 : 1);
      refuse_if(next_is("]"), "a class that begins with ]");
      return;
    }
    if (next_is("(?")) return group();
    refuse_if(next_is("(*"), "(*");
    refuse_if(next_is("}+"), "a possessive bound");
    take(1);
  }

  void inside_class() {
    refuse_if(next_is("["), "a class inside a class");
    refuse_if(next_is("&&"), "an intersection of classes");
    if (from_[at_] == ']') in_class_ = false;
    take(1);
  }

  void group() {
    static constexpr std::array<std::string_view, 8> known = {
        "(?:", "(?i:", "(?i)", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    for (auto const& opening : known)
      if (next_is(opening)) return take(opening.size());
    refuse_if(true, from_.substr(at_, 4));
  }

  void escape() {
    refuse_if(at_ + 1 == from_.size(), "a \\ at the end");
    char const c = from_[at_ + 1];
    if (c == 's' || c == 'S') {
      refuse_if(in_class_ && c == 'S', "\\S inside a class");
      to_ += in_class_ ? std::string(white_space) : text(c == 's' ? "[" : "[^", white_space, "]");
      at_ += 2;
    } else if (c == 'p' || c == 'P') {
      property();
    } else if (c == 'u') {
      refuse_if(at_ + 6 > from_.size(), "\\u without four digits");
      to_ += "\\x{" + from_.substr(at_ + 2, 4) + "}";
      at_ += 6;
    } else {
      bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      refuse_if(letter && std::string_view("rntdDx").find(c) == std::string_view::npos, std::string("\\") + c);
      take(2);
    }
  }

  /// General categories pass; any other name is a script.
  void property() {
    auto const end = from_.find('}', at_);
    refuse_if(from_[at_ + 2] != '{' || end == std::string::npos, "a property without braces");
    std::string name = from_.substr(at_ + 3, end - at_ - 3);
    std::string const sign = name.starts_with('^') ? "^" : "";
    name.erase(0, sign.size());
    if (name.size() > 2) name = "sc:" + name;
    to_ += from_.substr(at_, 3) + sign + name + "}";
    at_ = end + 1;
  }

  std::string const& from_;
  std::string to_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

std::string oniguruma_to_pcre2(std::string const& expression) { return Translation(expression).run(); }

}  // namespace sextant::tokens
