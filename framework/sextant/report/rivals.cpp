#include <sextant/report/rivals.hpp>

#include <algorithm>
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

/// What a row is asked, as far as that parts rows: where fewer than two questions are known, all are taken for one.
class Questions {
 public:
  explicit Questions(Comparison const& comparison) {
    std::set<std::string> known;
    for (auto const& row : comparison.rows)
      if (!row.asked.empty()) known.insert(row.asked);
    several_ = known.size() > 1;
  }
  std::string of(ComparisonRow const& row) const { return several_ ? row.asked : ""; }

 private:
  bool several_ = false;
};

bool holds(std::vector<std::string> const& parts, std::string const& part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

/// Parts of a label that all rivals share and no other arm has: what they are asked, as labels say it.
std::vector<std::string> parts_of(Comparison const& comparison, Rivals const& rivals) {
  auto out = parts_of(comparison.rows[rivals.rows.front()].arm.encoding);
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    bool const rival = std::find(rivals.rows.begin(), rivals.rows.end(), row) != rivals.rows.end();
    auto const parts = parts_of(comparison.rows[row].arm.encoding);
    std::erase_if(out, [&](auto const& part) { return holds(parts, part) != rival; });
  }
  return out;
}

/// The other parts of each row's label.
std::vector<std::vector<std::string>> own_parts(Comparison const& comparison) {
  std::vector<std::vector<std::string>> out(comparison.rows.size());
  for (auto const& rivals : rivals_of(comparison)) {
    auto const asked = parts_of(comparison, rivals);
    for (auto const row : rivals.rows) {
      out[row] = parts_of(comparison.rows[row].arm.encoding);
      std::erase_if(out[row], [&](auto const& part) { return holds(asked, part); });
    }
  }
  return out;
}
}  // namespace

std::vector<Rivals> rivals_of(Comparison const& comparison) {
  Questions const asked(comparison);
  std::vector<Rivals> out;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    auto const at = std::find_if(out.begin(), out.end(), [&](Rivals const& group) {
      return asked.of(comparison.rows[group.rows.front()]) == asked.of(comparison.rows[row]);
    });
    (at == out.end() ? out.emplace_back() : *at).rows.push_back(row);
  }
  if (out.size() > 1)
    for (auto& group : out) group.name = join(parts_of(comparison, group), between);
  return out;
}

ComparisonRow const* counterpart(Comparison const& comparison, ComparisonRow const& base, ComparisonRow const& row) {
  Questions const asked(comparison);
  if (asked.of(base) == asked.of(row)) return &base;
  auto const own = own_parts(comparison);
  auto const& wanted = own[static_cast<std::size_t>(&base - comparison.rows.data())];
  ComparisonRow const* found = nullptr;
  for (std::size_t n = 0; n < comparison.rows.size(); ++n) {
    auto const& other = comparison.rows[n];
    if (other.study != row.study || other.asked != row.asked || other.arm.scaling != base.arm.scaling ||
        own[n] != wanted)
      continue;
    if (found) return nullptr;  // two alike: neither is the one
    found = &other;
  }
  return found;
}

}  // namespace sextant::report
