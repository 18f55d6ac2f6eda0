#include <sextant/base/error.hpp>
#include <sextant/encoding/schema.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sextant::encoding {
namespace {
std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  char buffer[32];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

bool inside(Range const& range, double x) {
  return (range.open ? x > range.least : x >= range.least) && x <= range.most;
}

std::string range_text(Range const& range) {
  bool const low = std::isfinite(range.least), high = std::isfinite(range.most);
  if (low && high) return text(" from ", number_text(range.least), " to ", number_text(range.most));
  if (low) return text(range.open ? " > " : " >= ", number_text(range.least));
  if (high) return text(" <= ", number_text(range.most));
  return "";
}
}  // namespace

std::string to_text(Value const& value) {
  struct Write {
    std::string operator()(Auto) const { return "auto"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double x) const { return number_text(x); }
    std::string operator()(std::string const& s) const { return s; }
    std::string operator()(std::vector<double> const& list) const {
      std::string out = "[";
      for (double x : list) out += (out.size() > 1 ? ", " : "") + number_text(x);
      return out + "]";
    }
  };
  return std::visit(Write{}, value);
}

std::string Option::expectation() const {
  std::string out;
  switch (kind) {
    case Kind::boolean:
      out = "true or false";
      break;
    case Kind::integer:
      out = "a whole number" + range_text(range);
      break;
    case Kind::number:
      out = "a number" + range_text(range);
      break;
    case Kind::text:
      out = choices.empty() ? "a word" : "one of " + join(choices);
      break;
    case Kind::integers:
      out = "a list of whole numbers" + range_text(range);
      break;
    case Kind::numbers:
      out = "a list of numbers" + range_text(range);
      break;
  }
  if (!unit.empty()) out += " (" + unit + ")";
  if (!auto_meaning.empty()) out += ", or auto";
  return out;
}

Value Option::accept(Value const& value) const {
  auto const refuse = [&](std::string const& hint = "") {
    fail("is ", to_text(value), ", expected ", expectation(), hint);
  };
  if (std::holds_alternative<Auto>(value)) {
    if (auto_meaning.empty()) refuse();
    return value;
  }
  double x = 0;
  bool const numeric = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
  if (numeric)
    x = std::holds_alternative<double>(value) ? std::get<double>(value)
                                              : static_cast<double>(std::get<std::int64_t>(value));
  switch (kind) {
    case Kind::boolean:
      if (!std::holds_alternative<bool>(value)) refuse();
      return value;
    case Kind::integer:
      if (!numeric || x != std::floor(x) || !inside(range, x)) refuse();
      if (double const most = std::min(held.most, 0x1p53); x > most) refuse(text("; at most ", std::int64_t(most)));
      if (double const least = std::max(held.least, -0x1p53); x < least)
        refuse(text("; at least ", std::int64_t(least)));
      return static_cast<std::int64_t>(x);
    case Kind::number:
      if (!numeric || !std::isfinite(x) || !inside(range, x)) refuse();
      return x;
    case Kind::text: {
      if (!std::holds_alternative<std::string>(value)) refuse();
      auto const& word = std::get<std::string>(value);
      for (auto const& choice : choices)
        if (choice == word) return value;
      if (!choices.empty()) {
        std::string const near = nearest(word, choices);
        refuse(near.empty() ? "" : "; did you mean " + near + "?");
      }
      if (static_cast<double>(word.size()) > held.most)
        refuse(text("; it has ", word.size(), " bytes, at most ", std::int64_t(held.most)));
      return value;
    }
    case Kind::integers:
    case Kind::numbers: {
      if (!std::holds_alternative<std::vector<double>>(value)) refuse();
      auto const& list = std::get<std::vector<double>>(value);
      if (list.size() > static_cast<std::size_t>(Numbers::capacity))
        refuse(text(" with at most ", Numbers::capacity, " entries"));
      for (double entry : list)
        if (!std::isfinite(entry) || !inside(range, entry) || (kind == Kind::integers && entry != std::floor(entry)))
          refuse();
      return value;
    }
  }
  return value;
}

}  // namespace sextant::encoding
