// Joining the records of stages that measured different lengths of one run.
#include <sextant/results/compare.hpp>
#include <sextant/results/study.hpp>

#include <algorithm>
#include <set>

namespace sextant::results {
namespace {
// Arrays that are the first axis of some array here, themselves included.
std::set<std::string> leading_axes(Group const& group) {
  std::set<std::string> names;
  for (auto const& item : group.arrays)
    if (auto const& axes = item.second.axes; !axes.empty() && !axes[0].empty()) names.insert(axes[0]);
  return names;
}

bool same_array(Array const& left, Array const& right) {
  Group a, b;
  a.arrays["x"] = left, b.arrays["x"] = right;
  return differences(a, b).empty();
}

bool rows_fit(Array const& left, Array const& right) {
  return left.type() == right.type() && left.units == right.units && left.axes == right.axes &&
         left.shape.size() == right.shape.size() && !left.shape.empty() &&
         std::equal(left.shape.begin() + 1, left.shape.end(), right.shape.begin() + 1);
}

void grow(Array& into, Array const& more) {
  into.shape[0] += more.shape[0];
  std::visit(
      [&](auto& list) {
        auto const& rows = std::get<std::decay_t<decltype(list)>>(more.values);
        list.insert(list.end(), rows.begin(), rows.end());
      },
      into.values);
  for (auto const& [name, value] : more.attributes) into.attributes.try_emplace(name, value);
}
}  // namespace

void append(Group& into, Group const& more) {
  for (auto const& [name, value] : more.attributes) {
    auto const [at, added] = into.attributes.try_emplace(name, value);
    expect(added || at->second == value, into.where, ": attribute ", name, " is ", describe(at->second),
           " in one stage, ", describe(value), " in another (", more.where, ")");
  }
  std::set<std::string> const growing = leading_axes(more);
  for (auto const& [name, array] : more.arrays) {
    Array* const mine = into.arrays.find(name);
    if (!mine) {
      into.arrays[name] = array;
      continue;
    }
    bool const grows = growing.contains(name) || (!array.axes.empty() && growing.contains(array.axes[0]));
    if (grows) {
      expect(rows_fit(*mine, array), more.where, ": ", name, " is ", array.describe(), " ", array.units,
             ", expected rows of ", mine->describe(), " ", mine->units, " as in another stage");
      grow(*mine, array);
    } else {
      expect(same_array(*mine, array), more.where, ": ", name, " differs from that of another stage");
    }
  }
  for (auto const& [name, child] : more.groups) append(into[name], child);
}

}  // namespace sextant::results
