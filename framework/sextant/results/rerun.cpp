#include <sextant/results/rerun.hpp>
#include <sextant/results/table.hpp>

#include <algorithm>
#include <sstream>

namespace sextant::results {
namespace {

std::string arm_name(std::string const& encoding, std::string const& scaling, std::int64_t seed) {
  return text(arm_label(encoding, scaling), ", seed ", seed);
}

void add_columns(Group& out, Group const& provenance, std::string const& table, std::string const& value) {
  Group const* const group = provenance.find_group(table);
  if (!group || !group->has_array("name") || !group->has_array(value)) return;
  auto const& names = group->texts("name");
  auto const& values = group->texts(value);
  std::string const kind = table == "libraries" ? "library" : table.substr(0, table.size() - 1);
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) out.set(kind + " " + names[i], values[i]);
}

// per_position_<length> and its axis, but those of the longest window.
void drop_short_positions(Group& probe) {
  std::string const values = "per_position_", axis = "position_";
  std::size_t longest = 0;
  for (auto const& [name, array] : probe.arrays)
    if (name.starts_with(values)) longest = std::max(longest, array.size());
  for (auto const& name : probe.arrays.names())
    if ((name.starts_with(values) || name.starts_with(axis)) && probe.array(name).size() < longest)
      probe.arrays.erase(name);
}
// Words of a text with the last part of every place on the machine that ran; nobody else has that place. A place stands
// alone or behind "=".
std::string without_folders(std::string const& words) {
  std::istringstream in(words);
  std::string out;
  for (std::string word; std::getline(in, word, ' ');) {
    std::size_t const equals = word.find("=/"), slash = word.find_last_of('/');
    std::size_t const begin = word.starts_with('/') ? 0 : equals == std::string::npos ? word.size() : equals + 1;
    if (begin < word.size()) word.erase(begin, slash + 1 - begin);
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}
void drop_folders(Group& provenance) {
  if (provenance.has_attribute("command_line"))
    provenance.set("command_line", without_folders(provenance.attribute<std::string>("command_line")));
  if (!provenance.has_array("plugins/origin")) return;
  auto& origins = std::get<std::vector<std::string>>(provenance["plugins"].arrays["origin"].values);
  for (auto& origin : origins) origin = without_folders(origin);
}
}  // namespace

Group numbers_of(Group const& study) {
  Group out;
  for (auto const& row : table(study.group("summary/results")))
    out.set(text(arm_name(row.encoding, row.scaling, row.seed), ": ", row.probe, " ", row.region, " ", row.metric,
                 " @ ", row.length),
            row.value);
  for (auto const& [id, run] : study.group("runs").groups)
    if (run.has_array("train/loss"))
      out.set(arm_name(run.attribute<std::string>("encoding", ""), run.attribute<std::string>("scaling", ""),
                       run.attribute<std::int64_t>("seed", 0)) +
                  ": training losses",
              run.numbers("train/loss"));
  return out;
}

Group origin_of(Group const& study) {
  Group out;
  Group const* const provenance = study.find_group("provenance");
  if (!provenance) return out;
  for (auto const& [name, value] : provenance->attributes)
    if (!moments().contains(name)) out.attributes[name] = value;
  add_columns(out, *provenance, "libraries", "version");
  add_columns(out, *provenance, "plugins", "sha256");
  add_columns(out, *provenance, "inputs", "sha256");
  return out;
}

Group summarised(Group const& study) {
  Group out = study;
  out.set("summary_of", static_cast<std::int64_t>(study.group("runs").groups.size()));
  if (out.has_group("provenance")) drop_folders(out["provenance"]);
  for (auto& [id, run] : out["runs"].groups) {
    run.groups.erase("log");
    if (Group* const eval = run.groups.find("eval"))
      for (auto& [name, probe] : eval->groups) drop_short_positions(probe);
    Group* const train = run.groups.find("train");
    if (!train) continue;
    for (auto const& name : train->arrays.names())
      if (name != "step" && name != "loss") train->arrays.erase(name);
  }
  return out;
}

}  // namespace sextant::results
