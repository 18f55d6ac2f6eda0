#include <sextant/results/tree.hpp>

#include <functional>
#include <numeric>

namespace sextant::results {
namespace {
std::size_t product(Shape const& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// Splits "a/b/c" at the last slash: {"a/b", "c"}; the first is "" when there is none.
std::pair<std::string_view, std::string_view> split_last(std::string_view path) {
  std::size_t const slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

void check_name(std::string const& name, std::string const& where) {
  expect(!name.empty() && name != "." && name.find('/') == std::string::npos && name.find('\0') == std::string::npos,
         where, ": \"", name, "\" cannot name an array or a group; expected one word of a path, without a slash");
}

template <class To>
std::vector<To> converted(Values const& values, bool& fits) {
  return std::visit(
      [&](auto const& from) {
        std::vector<To> out;
        using From = typename std::decay_t<decltype(from)>::value_type;
        if constexpr (!std::is_same_v<From, std::string>) {
          out.reserve(from.size());
          for (From const value : from) {
            out.push_back(static_cast<To>(value));
            if constexpr (std::is_same_v<From, std::int64_t> && std::is_same_v<To, double>)
              fits = fits && value >= -(1LL << 53) && value <= (1LL << 53);
          }
        }
        return out;
      },
      values);
}
}  // namespace

std::string name(Type type) {
  static char const* const names[] = {"float32", "float64", "int8", "uint8", "int32", "int64", "boolean", "text"};
  return names[static_cast<int>(type)];
}

std::size_t Array::size() const {
  return std::visit([](auto const& list) { return list.size(); }, values);
}

std::string Array::describe() const { return sextant::text(name(type()), ' ', shape); }

Array& Array::along(std::vector<std::string> names) {
  expect(names.size() == shape.size(), long_name, ": ", names.size(), " axes named for shape ", shape);
  axes = std::move(names);
  return *this;
}

Array& Array::reason(std::string why) {
  attributes["reason"] = std::move(why);
  return *this;
}

std::string Group::inside(std::string_view path) const {
  return path.empty() ? where : where.ends_with('/') ? sextant::text(where, path) : sextant::text(where, '/', path);
}

Group& Group::operator[](std::string_view path) {
  std::size_t const slash = path.find('/');
  std::string const first(path.substr(0, slash));
  check_name(first, where);
  expect(!arrays.find(first), inside(first), " is an array, expected a group");
  Group& child = groups[first];
  child.where = inside(first);
  return slash == std::string_view::npos ? child : child[path.substr(slash + 1)];
}

Array& Group::add(std::string const& name, Array array) {
  check_name(name, where);
  expect(!groups.find(name), inside(name), " is a group, expected an array");
  expect(array.size() == product(array.shape), inside(name), " got ", array.size(), " values for shape ", array.shape);
  return arrays[name] = std::move(array);
}

Array& Group::put(std::string const& name, Values values, std::string units, std::string long_name) {
  std::size_t const size = std::visit([](auto const& list) { return list.size(); }, values);
  return put(name, Shape{size}, std::move(values), std::move(units), std::move(long_name));
}

Array& Group::put(std::string const& name, Shape shape, Values values, std::string units, std::string long_name) {
  expect(!long_name.empty(), inside(name), " has no long_name, expected a few words that say what it is");
  bool const text = std::holds_alternative<std::vector<std::string>>(values);
  expect(text || !units.empty(), inside(name), " has no units, expected e.g. nat/token, token, s, byte or 1");
  return add(name, {std::move(shape), std::move(values), std::move(units), std::move(long_name), {}, {}});
}

Array& Group::put(std::string const& name, std::vector<std::string> texts, std::string long_name) {
  return put(name, Values(std::move(texts)), "", std::move(long_name));
}

Array& Group::put(std::string const& name, std::string text, std::string long_name) {
  return put(name, Shape{}, std::vector<std::string>{std::move(text)}, "", std::move(long_name));
}

Group& Group::plot(std::string const& signal, std::vector<std::string> const& axes,
                   std::vector<std::string> const& others) {
  Array const& drawn = array(signal);
  expect(drawn.shape.size() == axes.size(), inside(signal), " is ", drawn.describe(), ", expected ", axes.size(),
         " dimensions to plot it over ", axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    array(axes[i]);
    set(axes[i] + "_indices", i);
  }
  for (auto const& other : others) array(other, drawn.shape);
  set("NX_class", "NXdata").set("signal", signal).set("axes", axes);
  if (!others.empty()) set("auxiliary_signals", others);
  return *this;
}

Group const* Group::find_group(std::string_view path) const {
  Group const* at = this;
  while (at && !path.empty()) {
    std::size_t const slash = path.find('/');
    if (std::string_view const first = path.substr(0, slash); !first.empty()) at = at->groups.find(first);
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return at;
}

Array const* Group::find_array(std::string_view path) const {
  auto const [folder, last] = split_last(path);
  Group const* const parent = find_group(folder);
  return parent ? parent->arrays.find(last) : nullptr;
}

Group const& Group::group(std::string_view path) const {
  if (Group const* const found = find_group(path)) return *found;
  auto const [folder, last] = split_last(path);
  Group const& parent = group(folder);
  if (Array const* const other = parent.arrays.find(last))
    fail(parent.inside(last), " is an array, ", other->describe(), ", expected a group");
  fail(parent.where, ": no group ", last, did_you_mean(last, parent.groups.names()));
}

Array const& Group::array(std::string_view path) const {
  if (Array const* const found = find_array(path)) return *found;
  auto const [folder, last] = split_last(path);
  Group const& parent = group(folder);
  expect(!parent.groups.find(last), parent.inside(last), " is a group, expected an array");
  if (auto const other = parent.unread.find(std::string(last)); other != parent.unread.end())
    fail(parent.inside(last), " cannot be read: it is ", other->second);
  fail(parent.where, ": no array ", last, did_you_mean(last, parent.arrays.names()));
}

Array const& Group::array(std::string_view path, Shape const& shape) const {
  Array const& found = array(path);
  expect(found.shape == shape, inside(path), " is ", found.describe(), ", expected shape ", shape);
  return found;
}

void Group::mismatch(std::string_view path, Array const& found, std::string const& expected) const {
  fail(inside(path), " is ", found.describe(), ", expected ", expected);
}

std::vector<double> Group::numbers(std::string_view path) const {
  Array const& found = array(path);
  if (found.type() == Type::text || found.type() == Type::boolean) mismatch(path, found, "numbers");
  bool fits = true;
  std::vector<double> out = converted<double>(found.values, fits);
  if (!fits) mismatch(path, found, "integers that float64 can hold");
  return out;
}

std::vector<std::int64_t> Group::integers(std::string_view path) const {
  Array const& found = array(path);
  Type const type = found.type();
  if (type != Type::int8 && type != Type::uint8 && type != Type::int32 && type != Type::int64)
    mismatch(path, found, "integers");
  bool fits = true;
  return converted<std::int64_t>(found.values, fits);
}

std::vector<std::string> const& Group::texts(std::string_view path) const { return values<std::string>(path); }

std::string const& Group::text(std::string_view path) const {
  std::vector<std::string> const& found = texts(path);
  if (found.size() != 1) mismatch(path, array(path), "one text");
  return found.front();
}

}  // namespace sextant::results
