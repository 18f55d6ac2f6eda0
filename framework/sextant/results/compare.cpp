#include <sextant/results/compare.hpp>

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <limits>

namespace sextant::results {
namespace {
template <class T>
bool same(T const& a, T const& b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  else if constexpr (std::is_same_v<T, std::vector<double>>)
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same<double>);
  else
    return a == b;
}

// A value with every digit that tells it from its neighbours.
template <class T>
std::string exact(T const& value) {
  std::ostringstream out;
  if constexpr (std::is_floating_point_v<T>) out << std::setprecision(std::numeric_limits<T>::max_digits10);
  if constexpr (sizeof(T) == 1)
    out << static_cast<int>(value);
  else
    out << value;
  return out.str();
}

std::string exact(Attribute const& attribute) {
  if (auto const* value = std::get_if<double>(&attribute)) return exact(*value);
  return describe(attribute);
}

class Comparison {
 public:
  explicit Comparison(std::set<std::string> const& ignored) : ignored_(ignored) {}

  void groups(Group const& left, Group const& right, std::string const& path) {
    attributes(left.attributes, right.attributes, path);
    each(left.arrays, right.arrays, path,
         [&](Array const& a, Array const& b, std::string const& at) { arrays(a, b, at); });
    each(left.groups, right.groups, path,
         [&](Group const& a, Group const& b, std::string const& at) { groups(a, b, at); });
  }
  std::vector<Difference> take() { return std::move(found_); }

 private:
  static std::string what(Array const& array) { return array.describe(); }
  static std::string what(Group const&) { return "a group"; }

  template <class T, class Compare>
  void each(Ordered<T> const& left, Ordered<T> const& right, std::string const& path, Compare const& compare) {
    auto const at = [&](std::string const& name) { return path.empty() ? name : path + "/" + name; };
    for (auto const& [name, one] : left) {
      if (ignored_.contains(name)) continue;
      if (T const* const other = right.find(name))
        compare(one, *other, at(name));
      else
        found_.push_back({at(name), what(one), "absent"});
    }
    for (auto const& [name, one] : right)
      if (!ignored_.contains(name) && !left.find(name)) found_.push_back({at(name), "absent", what(one)});
  }

  void attributes(std::map<std::string, Attribute> const& left, std::map<std::string, Attribute> const& right,
                  std::string const& path) {
    for (auto const& [name, one] : left) {
      if (ignored_.contains(name)) continue;
      auto const other = right.find(name);
      if (other == right.end())
        found_.push_back({path + "@" + name, exact(one), "absent"});
      else if (!equal(one, other->second))
        found_.push_back({path + "@" + name, exact(one), exact(other->second)});
    }
    for (auto const& [name, one] : right)
      if (!ignored_.contains(name) && !left.contains(name)) found_.push_back({path + "@" + name, "absent", exact(one)});
  }

  static bool equal(Attribute const& left, Attribute const& right) {
    if (left.index() != right.index()) return false;
    return std::visit([&](auto const& a) { return same(a, std::get<std::decay_t<decltype(a)>>(right)); }, left);
  }

  void arrays(Array const& left, Array const& right, std::string const& path) {
    auto with = [](Array const& array) {
      auto all = array.attributes;
      all["units"] = array.units, all["long_name"] = array.long_name, all["axes"] = array.axes;
      return all;
    };
    attributes(with(left), with(right), path);
    if (left.type() != right.type() || left.shape != right.shape) {
      found_.push_back({path, left.describe(), right.describe()});
      return;
    }
    std::visit(
        [&](auto const& a) {
          using T = typename std::decay_t<decltype(a)>::value_type;
          auto const& b = std::get<std::decay_t<decltype(a)>>(right.values);
          for (std::size_t i = 0; i < a.size(); ++i) {
            T const x = a[i], y = b[i];
            if (same(x, y)) continue;
            found_.push_back({path + place(left.shape, i), exact(x), exact(y)});
            return;
          }
        },
        left.values);
  }

  static std::string place(Shape const& shape, std::size_t index) {  // [2, 17]
    std::vector<std::size_t> at(shape.size());
    for (std::size_t i = shape.size(); i-- > 0; index /= shape[i]) at[i] = index % shape[i];
    return shape.empty() ? "" : text(at);
  }

  std::set<std::string> const& ignored_;
  std::vector<Difference> found_;
};
}  // namespace

std::set<std::string> const& moments() {
  static std::set<std::string> const names{"file_time", "started", "finished",     "wall",   "seconds",   "speed",
                                           "time",      "log",     "command_line", "origin", "provenance"};
  return names;
}

std::vector<Difference> differences(Group const& left, Group const& right, std::set<std::string> const& ignored) {
  Comparison comparison(ignored);
  comparison.groups(left, right, "");
  return comparison.take();
}

std::vector<Difference> compare_numbers(fs::path const& left, fs::path const& right,
                                        std::set<std::string> const& ignored) {
  return differences(read_file(left), read_file(right), ignored);
}

std::string summary(std::vector<Difference> const& differences, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < std::min(count, differences.size()); ++i)
    out += text(differences[i].path, ": ", differences[i].left, " -> ", differences[i].right, '\n');
  if (differences.size() > count) out += text("and ", differences.size() - count, " more\n");
  return out;
}

}  // namespace sextant::results
