#include <sextant/report/rivals.hpp>

#include <algorithm>

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

bool same_question(ComparisonRow const& a, ComparisonRow const& b) {
  return a.asked == b.asked || a.asked.empty() || b.asked.empty();
}

std::string shared_name(Comparison const& comparison, std::vector<std::size_t> const& rows) {
  auto shared = parts_of(comparison.rows[rows.front()].arm.encoding);
  for (auto const row : rows) {
    auto const parts = parts_of(comparison.rows[row].arm.encoding);
    std::erase_if(shared, [&](auto const& part) { return std::find(parts.begin(), parts.end(), part) == parts.end(); });
  }
  return join(shared, between);
}
}  // namespace

std::vector<Rivals> rivals_of(Comparison const& comparison) {
  std::vector<Rivals> out;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    auto const at = std::find_if(out.begin(), out.end(), [&](Rivals const& group) {
      return same_question(comparison.rows[group.rows.front()], comparison.rows[row]);
    });
    (at == out.end() ? out.emplace_back() : *at).rows.push_back(row);
  }
  if (out.size() > 1)
    for (auto& group : out) group.name = shared_name(comparison, group.rows);
  return out;
}

ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row) {
  if (same_question(base, row)) return &base;
  auto const name = parts_of(base.arm.encoding).front();
  for (auto const& other : comparison.rows)
    if (other.study == row.study && other.asked == row.asked && other.arm.scaling == base.arm.scaling &&
        parts_of(other.arm.encoding).front() == name)
      return &other;
  return nullptr;
}

}  // namespace sextant::report
