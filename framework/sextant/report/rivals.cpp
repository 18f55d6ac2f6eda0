#include <sextant/report/rivals.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sextant::report {
namespace {
constexpr std::string_view between = " / ";  // the parts of a label, as plans name arms of several axes

std::vector<std::string> parts_of(std::string_view label) {
  std::vector<std::string> parts;
  for (std::size_t at; (at = label.find(between)) != std::string_view::npos; label.remove_prefix(at + between.size()))
    parts.emplace_back(label.substr(0, at));
  parts.emplace_back(label);
  return parts;
}

bool holds(std::vector<std::string> const& parts, std::string const& part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

void group_rows(Comparison& comparison) {
  std::set<std::string> known;
  for (auto const& row : comparison.rows)
    if (!row.asked.empty()) known.insert(row.asked);
  std::map<std::string, std::size_t> groups;
  for (std::size_t n = 0; n < comparison.rows.size(); ++n) {
    auto& row = comparison.rows[n];
    auto const [at, fresh] = groups.emplace(known.size() > 1 ? row.asked : "", comparison.rivals.size());
    if (fresh) comparison.rivals.emplace_back();
    row.rivals = at->second;
    comparison.rivals[row.rivals].rows.push_back(n);
  }
}

/// Parts of a label that all rivals share and no other arm has: what they are asked, as labels say it.
std::vector<std::string> asked_parts(Comparison const& comparison, std::size_t rivals) {
  auto out = parts_of(comparison.rows[comparison.rivals[rivals].rows.front()].arm.encoding);
  for (auto const& row : comparison.rows) {
    auto const parts = parts_of(row.arm.encoding);
    std::erase_if(out, [&](auto const& part) { return holds(parts, part) != (row.rivals == rivals); });
  }
  return out;
}
}  // namespace

void find_rivals(Comparison& comparison) {
  comparison.rivals.clear();
  group_rows(comparison);
  if (comparison.rivals.size() < 2) return;
  for (std::size_t n = 0; n < comparison.rivals.size(); ++n) {
    auto const asked = asked_parts(comparison, n);
    comparison.rivals[n].name = join(asked, between);
    for (auto const row : comparison.rivals[n].rows) {
      auto own = parts_of(comparison.rows[row].arm.encoding);
      std::erase_if(own, [&](auto const& part) { return holds(asked, part); });
      comparison.rows[row].own = join(own, between);
    }
  }
}

ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row) {
  if (base.rivals == row.rivals) return &base;
  ComparisonRow const* found = nullptr;
  for (auto const n : comparison.rivals[row.rivals].rows) {
    auto const& other = comparison.rows[n];
    if (other.study != row.study || other.arm.scaling != base.arm.scaling || other.own != base.own) continue;
    if (found) return nullptr;  // two alike: neither is the one
    found = &other;
  }
  return found;
}

}  // namespace sextant::report
