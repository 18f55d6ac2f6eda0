#include <sextant/claims/published.hpp>

namespace sextant::claims {

results::Group to_group(std::vector<PublishedTable> const& tables) {
  std::vector<std::string> title, source, units, name, ours;
  std::vector<double> value;
  for (auto const& table : tables)
    for (auto const& row : table.rows) {
      title.push_back(table.title), source.push_back(table.source), units.push_back(table.units);
      name.push_back(row.name), value.push_back(row.value), ours.push_back(row.ours);
    }
  results::Group out;
  out.put("title", title, "which table the number is of");
  out.put("source", source, "where it is published");
  out.put("name", name, "what it is published as");
  out.put("value", value, "see column units", "the number as published");
  out.put("units", units, "units of value");
  out.put("ours", ours, "the quantity of this study beside it, arms as summary/results names them; empty: none");
  return out;
}

std::vector<PublishedTable> published_from(results::Group const& group) {
  results::Shape const shape{group.texts("title").size()};
  auto const words = [&](char const* name) { return group.values<std::string>(name, shape); };
  auto const title = words("title"), source = words("source"), units = words("units"), name = words("name"),
             ours = words("ours");
  auto const value = group.values<double>("value", shape);
  std::vector<PublishedTable> out;
  for (std::size_t i = 0; i < shape[0]; ++i) {
    if (out.empty() || out.back().title != title[i]) out.push_back({title[i], source[i], units[i], {}});
    out.back().rows.push_back({name[i], value[i], ours[i]});
  }
  return out;
}

}  // namespace sextant::claims
