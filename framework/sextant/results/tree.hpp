// A results file in memory: groups of named arrays and attributes, built by name and read with every step checked.
//
//   Group record;
//   record.set("seed", 11).set("status", "done");
//   record["train"].put("loss", losses, "nat/token", "training loss").along({"step"});
//   double const last = record.values<double>("train/loss").back();
#pragma once
#include <sextant/base/error.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sextant::results {

using Shape = std::vector<std::size_t>;

/// Values of an array in row-major order, in the precision they were computed in.
using Values =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int8_t>, std::vector<std::uint8_t>,
                 std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<bool>, std::vector<std::string>>;
enum class Type { float32, float64, int8, uint8, int32, int64, boolean, text };  // in the order of Values

/// What an attribute holds. Integers of every width are int64 here and floats are double.
using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>>;

/// "float64", "text", ...
std::string name(Type type);
/// "int64 3", "text "none"", "float64 list of 3": for messages.
std::string describe(Attribute const& attribute);

/// Pairs of name and T in the order they were added. Unlike a vector's, references stay valid while others are added.
template <class T>
class Ordered {
 public:
  T* find(std::string_view name) {
    for (auto& [key, value] : items_)
      if (key == name) return &value;
    return nullptr;
  }
  T const* find(std::string_view name) const { return const_cast<Ordered*>(this)->find(name); }
  T& operator[](std::string const& name) {
    if (T* const found = find(name)) return *found;
    return items_.emplace_back(name, T{}).second;
  }
  void erase(std::string_view name) {
    items_.remove_if([&](auto const& item) { return item.first == name; });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (auto const& item : items_) out.push_back(item.first);
    return out;
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

 private:
  std::list<std::pair<std::string, T>> items_;
};

struct Array {
  Shape shape;                    // {} for a single value
  Values values;                  // product(shape) of them
  std::string units, long_name;   // "nat/token", "training loss"; "" only in files that others wrote, and for text
  std::vector<std::string> axes;  // for each dimension the sibling array that gives its coordinate, or ""
  std::map<std::string, Attribute> attributes;

  Type type() const { return static_cast<Type>(values.index()); }
  std::size_t size() const;
  /// "float64 [2, 8]"
  std::string describe() const;
  /// Names the sibling arrays that are the coordinates of the dimensions, e.g. along({"layer", "head"}).
  Array& along(std::vector<std::string> names);
  /// Says why some values are NaN.
  Array& reason(std::string why);
};

struct Group {
  std::map<std::string, Attribute> attributes;
  Ordered<Array> arrays;
  Ordered<Group> groups;
  std::map<std::string, std::string> unread;  // what a file holds here that Values cannot: name and what it is
  std::string where = "/";                    // for messages: "study.h5:/runs/ab12"

  // Building. Names are single words of a path; a name is an array or a group, not both.

  /// The group at a path, made where absent: study["runs"]["ab12"] or study["runs/ab12"].
  Group& operator[](std::string_view path);
  /// Sets an attribute: bool, any number, text, or a vector of numbers or texts. Long texts belong into put.
  template <class T>
  Group& set(std::string const& name, T const& value);
  /// Adds or replaces an array of one dimension, or of the given shape. Throws Error when units or long_name are empty
  /// or the shape does not hold the values.
  Array& put(std::string const& name, Values values, std::string units, std::string long_name);
  Array& put(std::string const& name, Shape shape, Values values, std::string units, std::string long_name);
  /// A list of texts, and one text of any length; both have no units.
  Array& put(std::string const& name, std::vector<std::string> texts, std::string long_name);
  Array& put(std::string const& name, std::string text, std::string long_name);
  /// Marks this group as a plot (NeXus): viewers draw `signal` over `axes`, one array for each of its dimensions, and
  /// the `others` as further lines. Throws Error when one of them is not here.
  Group& plot(std::string const& signal, std::vector<std::string> const& axes,
              std::vector<std::string> const& others = {});

  // Reading. `path` is relative: "loss" or "train/loss". Whatever is absent or of another type or shape is an Error
  // that names the file, the path inside, what was found, what was expected and the nearest name.

  bool has_group(std::string_view path) const { return find_group(path) != nullptr; }
  bool has_array(std::string_view path) const { return find_array(path) != nullptr; }
  bool has_attribute(std::string const& name) const { return attributes.contains(name); }
  Group const* find_group(std::string_view path) const;
  Array const* find_array(std::string_view path) const;
  Group const& group(std::string_view path) const;
  Array const& array(std::string_view path) const;
  Array const& array(std::string_view path, Shape const& shape) const;

  /// Values of exactly this type.
  template <class T>
  std::vector<T> const& values(std::string_view path) const;
  template <class T>
  std::vector<T> const& values(std::string_view path, Shape const& shape) const;
  /// Values of any numeric type as double; an integer that double cannot hold exactly is an Error.
  std::vector<double> numbers(std::string_view path) const;
  /// Values of any integer type.
  std::vector<std::int64_t> integers(std::string_view path) const;
  std::vector<std::string> const& texts(std::string_view path) const;
  /// The text of an array that holds one.
  std::string const& text(std::string_view path) const;

  /// An attribute of this group; double also takes an integer, list of double a list of integers.
  template <class T>
  T attribute(std::string const& name) const;
  /// `fallback` when absent; of another type is still an Error.
  template <class T>
  T attribute(std::string const& name, T const& fallback) const {
    return has_attribute(name) ? attribute<T>(name) : fallback;
  }

 private:
  Array& add(std::string const& name, Array array);
  std::string inside(std::string_view path) const;
  [[noreturn]] void mismatch(std::string_view path, Array const& found, std::string const& expected) const;
  Attribute const& any(std::string const& name) const;
  [[noreturn]] void mismatch(std::string const& name, std::string const& expected) const;
};

namespace detail {
std::int64_t to_int64(std::uint64_t value);
std::string to_text(std::string_view value);

template <class T>
Attribute to_attribute(T const& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else if constexpr (std::is_unsigned_v<T>)
    return to_int64(value);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(value);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    return to_text(value);
  else if constexpr (std::is_same_v<T, Attribute>)
    return value;
  else if constexpr (std::is_floating_point_v<typename T::value_type>)
    return std::vector<double>(value.begin(), value.end());
  else if constexpr (std::is_integral_v<typename T::value_type>)
    return std::vector<std::int64_t>(value.begin(), value.end());
  else
    return std::vector<std::string>(value.begin(), value.end());
}
}  // namespace detail

template <class T>
Group& Group::set(std::string const& name, T const& value) {
  attributes[name] = detail::to_attribute(value);
  return *this;
}

template <class T>
std::vector<T> const& Group::values(std::string_view path) const {
  Array const& found = array(path);
  if (auto const* exact = std::get_if<std::vector<T>>(&found.values)) return *exact;
  mismatch(path, found, results::name(static_cast<Type>(Values(std::vector<T>{}).index())));
}

template <class T>
std::vector<T> const& Group::values(std::string_view path, Shape const& shape) const {
  array(path, shape);
  return values<T>(path);
}

template <>
bool Group::attribute<bool>(std::string const& name) const;
template <>
std::int64_t Group::attribute<std::int64_t>(std::string const& name) const;
template <>
int Group::attribute<int>(std::string const& name) const;
template <>
double Group::attribute<double>(std::string const& name) const;
template <>
std::string Group::attribute<std::string>(std::string const& name) const;
template <>
std::vector<std::int64_t> Group::attribute<std::vector<std::int64_t>>(std::string const& name) const;
template <>
std::vector<double> Group::attribute<std::vector<double>>(std::string const& name) const;
template <>
std::vector<std::string> Group::attribute<std::vector<std::string>>(std::string const& name) const;

}  // namespace sextant::results
