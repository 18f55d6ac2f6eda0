#include <sextant/base/error.hpp>
#include <sextant/spec/field.hpp>

#include <algorithm>
#include <limits>

namespace sextant::spec {
namespace {
using encoding::Kind;
using encoding::Option;
using encoding::Value;

[[noreturn]] void refuse(Node const& node, Option const& option, std::string const& path,
                         std::string const& hint = "") {
  fail(node.place.text(), ": ", path, " is ", found(node), ", expected ", expectation(option), hint);
}

// `steps` and `step` are one unit.
bool same_unit(std::string const& written, std::string const& unit) {
  auto const stem = [](std::string word) { return word.ends_with('s') ? word.substr(0, word.size() - 1) : word; };
  return stem(written) == stem(unit);
}

Value with_unit(Node const& node, Option const& option, std::string const& path) {
  if (node.quoted) refuse(node, option, path, "; a quoted number is a text, take the quotes away");
  auto const quantity = parse_quantity(node.text);
  if (!quantity) refuse(node, option, path);
  double const number = as_double(quantity->number);
  std::string const& unit = quantity->unit;
  if (option.unit == "s" || option.unit == "B") {
    auto const size = option.unit == "s" ? seconds_in(unit) : bytes_in(unit);
    if (!size) refuse(node, option, path, unit.empty() ? "; the unit is missing" : "; " + unit + " is no such unit");
    return number * *size;
  }
  if (!unit.empty() && !(!option.unit.empty() && same_unit(unit, option.unit))) refuse(node, option, path);
  return quantity->number;
}

Value raw_value(Node const& node, Option const& option, std::string const& path) {
  if (!option.auto_meaning.empty() && node.is_plain("auto")) return encoding::Auto{};
  switch (option.kind) {
    case Kind::text:
      if (!node.is_scalar()) refuse(node, option, path);
      if (node.text.empty()) refuse(node, option, path);
      return node.text;
    case Kind::boolean:
      if (!node.is_plain("true") && !node.is_plain("false")) refuse(node, option, path);
      return node.text == "true";
    case Kind::integer:
    case Kind::number:
      if (!node.is_scalar()) refuse(node, option, path);
      return with_unit(node, option, path);
    case Kind::integers:
    case Kind::numbers: {
      if (!node.is_list()) refuse(node, option, path);
      Option item = option;
      item.kind = option.kind == Kind::integers ? Kind::integer : Kind::number;
      item.auto_meaning.clear();
      std::vector<double> list;
      for (std::size_t i = 0; i < node.items.size(); ++i)
        list.push_back(as_double(read_value(node.items[i], item, below(path, std::to_string(i)))));
      return list;
    }
  }
  refuse(node, option, path);
}
}  // namespace

std::string expectation(Option const& option) {
  std::string const automatic = option.auto_meaning.empty() ? "" : ", or auto";
  if (option.unit == "s") return "a time such as 90s, 40min or 2h" + automatic;
  if (option.unit == "B") return "an amount such as 512MiB or 6GiB" + automatic;
  if (option.unit.starts_with("a ") || option.unit.starts_with("an ")) return option.unit + automatic;  // told in full
  if (option.kind == Kind::text && option.choices.empty()) return "a text" + automatic;
  if (option.kind == Kind::integer && option.range.least == option.range.most) return number_text(option.range.least);
  return option.expectation();
}

std::string introduce(Option const& option) {
  std::string text = option.name + " (" + expectation(option);
  if (!option.fallback)
    text += ", required";
  else
    text += ", default " + encoding::to_text(*option.fallback);
  return text + ")";
}

Value read_value(Node const& node, Option const& option, std::string const& path) {
  Value const value = raw_value(node, option, path);
  try {
    return option.accept(value);
  } catch (Error const& error) {
    std::string const words = error.what(),
                      expected = option.expectation();  // "is 0, expected a whole number >= 1; HINT"
    refuse(node, option, path, words.substr(words.rfind(expected) + expected.size()));
  }
}

void refuse_size(Node const& node, std::string const& path) {
  fail(node.place.text(), ": ", path, " is ", node.is_list() ? flow_text(node) : found(node), ", expected at most ",
       std::numeric_limits<int>::max());
}

std::vector<std::string> read_words(Node const& node, Option const& option, std::string const& path) {
  std::vector<std::string> words;
  if (node.is_scalar()) {
    words.push_back(std::get<std::string>(read_value(node, option, path)));
  } else {
    bool const may_be_empty = option.fallback == Value(std::string("[]"));
    if (!node.is_list() || (node.items.empty() && !may_be_empty))
      fail(node.place.text(), ": ", path, " is ", node.is_list() ? "an empty list" : found(node),
           ", expected a list of ", option.choices.empty() ? "texts" : "some of " + join(option.choices));
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      std::string const at = below(path, std::to_string(i));
      std::string word = std::get<std::string>(read_value(node.items[i], option, at));
      bool const twice = std::find(words.begin(), words.end(), word) != words.end();
      expect(!twice, node.items[i].place.text(), ": ", at, " is ", word, ", which the list already has");
      words.push_back(std::move(word));
    }
  }
  return words;
}

}  // namespace sextant::spec
