// Attributes of a group: what they may be made of and how they are read.
#include <sextant/results/tree.hpp>

#include <limits>

namespace sextant::results {
namespace {
template <class T>
std::string element() {
  if constexpr (std::is_same_v<T, bool>)
    return "boolean";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "int64";
  else if constexpr (std::is_same_v<T, double>)
    return "float64";
  else
    return "text";
}
}  // namespace

namespace detail {
std::int64_t to_int64(std::uint64_t value) {
  expect(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()), "attribute ", value,
         " does not fit into int64");
  return static_cast<std::int64_t>(value);
}
std::string to_text(std::string_view value) { return std::string(value); }
}  // namespace detail

std::string describe(Attribute const& attribute) {
  return std::visit(
      [](auto const& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>)
          return sextant::text("text \"", value, '"');
        else if constexpr (std::is_same_v<T, bool>)
          return value ? "boolean true" : "boolean false";
        else if constexpr (std::is_arithmetic_v<T>)
          return sextant::text(element<T>(), ' ', value);
        else
          return sextant::text(element<typename T::value_type>(), " list of ", value.size());
      },
      attribute);
}

Attribute const& Group::any(std::string const& name) const {
  if (auto const found = attributes.find(name); found != attributes.end()) return found->second;
  if (auto const other = unread.find("@" + name); other != unread.end())
    fail(where, ": attribute ", name, " cannot be read: it is ", other->second);
  std::vector<std::string> names;
  for (auto const& item : attributes) names.push_back(item.first);
  fail(where, ": no attribute ", name, did_you_mean(name, names));
}

void Group::mismatch(std::string const& name, std::string const& expected) const {
  fail(where, ": attribute ", name, " is ", describe(any(name)), ", expected ", expected);
}

template <>
bool Group::attribute<bool>(std::string const& name) const {
  if (auto const* value = std::get_if<bool>(&any(name))) return *value;
  mismatch(name, "boolean");
}

template <>
std::int64_t Group::attribute<std::int64_t>(std::string const& name) const {
  if (auto const* value = std::get_if<std::int64_t>(&any(name))) return *value;
  mismatch(name, "an integer");
}

template <>
int Group::attribute<int>(std::string const& name) const {
  std::int64_t const value = attribute<std::int64_t>(name);
  if (value != static_cast<int>(value)) mismatch(name, "an integer of 32 bits");
  return static_cast<int>(value);
}

template <>
double Group::attribute<double>(std::string const& name) const {
  if (auto const* value = std::get_if<double>(&any(name))) return *value;
  if (auto const* value = std::get_if<std::int64_t>(&any(name))) return static_cast<double>(*value);
  mismatch(name, "a number");
}

template <>
std::string Group::attribute<std::string>(std::string const& name) const {
  if (auto const* value = std::get_if<std::string>(&any(name))) return *value;
  mismatch(name, "text");
}

template <>
std::vector<std::int64_t> Group::attribute<std::vector<std::int64_t>>(std::string const& name) const {
  if (auto const* value = std::get_if<std::vector<std::int64_t>>(&any(name))) return *value;
  mismatch(name, "a list of integers");
}

template <>
std::vector<double> Group::attribute<std::vector<double>>(std::string const& name) const {
  if (auto const* value = std::get_if<std::vector<double>>(&any(name))) return *value;
  if (auto const* value = std::get_if<std::vector<std::int64_t>>(&any(name))) return {value->begin(), value->end()};
  mismatch(name, "a list of numbers");
}

template <>
std::vector<std::string> Group::attribute<std::vector<std::string>>(std::string const& name) const {
  if (auto const* value = std::get_if<std::vector<std::string>>(&any(name))) return *value;
  mismatch(name, "a list of texts");
}

}  // namespace sextant::results
