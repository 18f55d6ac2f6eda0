#include <sextant/base/error.hpp>

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {
// Edits (insert, delete, replace, swap of neighbours) that turn a into b; case does not count.
int edit_distance(std::string_view a, std::string_view b) {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      int const differs = lower(a[i - 1]) != lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
      bool const swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// Whether a shortens b by leaving letters out: attn_factor for attention_factor.
bool abbreviates(std::string_view a, std::string_view b) {
  if (a.size() < 4 || b.empty() || a[0] != b[0]) return false;
  std::size_t at = 0;
  for (char c : b)
    if (at < a.size() && a[at] == c) ++at;
  return at == a.size();
}
}  // namespace

detail::Part detail::part(char const* text) {
  return {text, [](std::ostream& out, void const* at) { out << static_cast<char const*>(at); }};
}

std::string detail::joined(std::initializer_list<Part> parts) {
  std::ostringstream out;
  for (Part const& part : parts) part.put(out, part.value);
  return out.str();
}

std::string nearest(std::string_view name, std::vector<std::string> const& candidates) {
  std::string best;
  double best_edits = 1 + std::max(1, static_cast<int>(name.size()) / 3);
  for (auto const& candidate : candidates) {
    double edits = edit_distance(name, candidate);
    bool const shares_stem =
        name.size() >= 4 && candidate.size() >= 4 && (candidate.starts_with(name) || name.starts_with(candidate));
    if (shares_stem) edits = std::min(edits, 1.5);  // behind a single slip
    if (abbreviates(name, candidate)) edits = std::min(edits, 2.0);
    if (edits < best_edits) best_edits = edits, best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates) {
  std::string const near = nearest(name, candidates);
  if (!near.empty()) return "; did you mean " + near + "?";
  if (candidates.empty()) return "";
  return "; known: " + join(candidates);
}

std::string join(std::vector<std::string> const& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i) out += separator;
    out += parts[i];
  }
  return out;
}

}  // namespace sextant
