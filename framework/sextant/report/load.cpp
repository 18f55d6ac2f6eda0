#include <sextant/claims/judge.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/load_grids.hpp>
#include <sextant/report/text.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace sextant::report {
namespace {
using results::Group;

struct ToText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return exact(value); }
  std::string operator()(std::string const& value) const { return value; }
  template <class T>
  std::string operator()(std::vector<T> const& list) const {
    std::vector<std::string> parts;
    for (auto const& each : list) parts.push_back((*this)(each));
    return cat({"[", join(parts), "]"});
  }
};

Facts facts_of(Group const& group) {
  Facts out;
  for (auto const& [name, value] : group.attributes) out.emplace_back(name, std::visit(ToText{}, value));
  return out;
}

std::string attribute(Group const& group, std::string const& name) {
  return group.attribute<std::string>(name, std::string());
}

std::string long_text(Group const& group, std::string const& path) {
  return group.has_array(path) ? group.text(path) : std::string();
}

std::vector<std::string> texts(Group const& group, std::string const& path) {
  return group.has_array(path) ? group.texts(path) : std::vector<std::string>();
}

std::vector<double> numbers(Group const& group, std::string const& name) {
  return group.has_array(name) ? group.numbers(name) : std::vector<double>();
}

TrainCurve train_of(Group const& run) {
  TrainCurve out;
  Group const* const train = run.find_group("train");
  if (!train) return out;
  out.step = numbers(*train, "step");
  out.token = numbers(*train, "token");
  out.wall = numbers(*train, "wall");
  out.loss = numbers(*train, "loss");
  out.rate = numbers(*train, "rate");
  out.gradient_norm = numbers(*train, "gradient_norm");
  out.speed = numbers(*train, "speed");
  if (auto const* const loss = train->find_array("loss"); loss && !loss->units.empty()) out.loss_units = loss->units;
  expect(out.loss.size() == out.step.size(), train->where, ": ", out.loss.size(), " losses for ", out.step.size(),
         " steps, expected one a step");
  return out;
}

// eval/<probe>/per_position_<length>
std::vector<PositionCurve> positions_of(Group const& run) {
  std::vector<PositionCurve> out;
  Group const* const eval = run.find_group("eval");
  if (!eval) return out;
  std::string const prefix = "per_position_";
  for (auto const& [probe, group] : eval->groups)
    for (auto const& [name, array] : group.arrays) {
      if (!name.starts_with(prefix)) continue;
      std::int64_t length = 0;
      auto const digits = name.substr(prefix.size());
      auto const parsed = std::from_chars(digits.data(), digits.data() + digits.size(), length);
      if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) continue;
      out.push_back({probe, length, group.numbers(name), array.units});
    }
  return out;
}

// Probes whose models saw less than the window: eval/<probe>/seen is below length somewhere.
void add_controls(Group const& run, std::vector<std::string>& controls) {
  Group const* const eval = run.find_group("eval");
  if (!eval) return;
  for (auto const& [probe, group] : eval->groups) {
    if (!group.has_array("seen") || !group.has_array("length")) continue;
    auto const seen = group.numbers("seen"), length = group.numbers("length");
    bool cut = false;
    for (std::size_t i = 0; i < seen.size() && i < length.size(); ++i) cut = cut || seen[i] < length[i];
    if (cut && std::find(controls.begin(), controls.end(), probe) == controls.end()) controls.push_back(probe);
  }
}

/// The settings that a trained stage is named after.
nlohmann::json canonical_of(Group const& config) {
  return nlohmann::json::parse(config.attribute<std::string>("canonical", ""), nullptr, false);
}

/// Their data and rows.
std::string lessons_of(nlohmann::json const& canonical) {
  if (!canonical.is_object() || !canonical.contains("data") || !canonical.contains("train")) return "";
  auto const& train = canonical["train"];
  return nlohmann::json{canonical["data"], train.value("length", 0), train.value("rows", 0)}.dump();
}

/// The corpus and its tokens; or the task, its files and its options, but for how long an example is and where its tokens stand.
std::string asked_of(nlohmann::json const& canonical) {
  if (!canonical.is_object() || !canonical.contains("data") || !canonical["data"].is_object()) return "";
  auto const& data = canonical["data"];
  if (!data.contains("task")) return nlohmann::json{data.value("corpus", ""), data.value("tokens", "")}.dump();
  auto const& task = data["task"];
  auto options = task.value("options", nlohmann::json::object());
  for (char const* const place : {"lengths", "canvas"}) options.erase(place);
  return nlohmann::json{task.value("use", ""), options, data.value("files", "")}.dump();
}

RunView run_of(std::string const& id, Group const& group) {
  RunView out;
  out.id = id;
  out.status = attribute(group, "status");
  out.message = attribute(group, "message");
  out.seed = group.attribute<std::int64_t>("seed", 0);
  out.encoding = attribute(group, "encoding");
  out.scaling = attribute(group, "scaling");
  out.parents = group.attribute<std::vector<std::string>>("parents", {});
  if (Group const* const config = group.find_group("config")) {
    out.config = facts_of(*config);
    auto const canonical = canonical_of(*config);
    out.lessons = lessons_of(canonical);
    out.asked = asked_of(canonical);
  }
  out.train = train_of(group);
  out.positions = positions_of(group);
  read_grids(out, group);
  return out;
}

// The one value of a key over all runs that state it.
std::optional<std::int64_t> one_value_of(StudyView const& study, std::string const& wanted) {
  std::set<std::int64_t> found;
  for (auto const& run : study.runs)
    for (auto const& [key, value] : run.config) {
      if (key != wanted) continue;
      std::int64_t length = 0;
      if (std::from_chars(value.data(), value.data() + value.size(), length).ec == std::errc()) found.insert(length);
    }
  if (found.size() != 1) return std::nullopt;
  return *found.begin();
}

void read_search(StudyView& out, Group const& from) {
  for (auto const& [method, course] : from.groups) {
    SearchCourse one{from.attribute<std::string>("encoding"), method, course.numbers("best"), {}, "", ""};
    auto const all = course.numbers("factors");
    auto const& shape = course.array("factors").shape;
    auto const winner = course.attribute<std::int64_t>("winner");
    expect(shape.size() == 2 && shape[0] == one.best.size() && winner >= 1 &&
               winner <= static_cast<std::int64_t>(shape[0]),
           course.where, ": factors are ", course.array("factors").describe(), " and the winner is ", winner,
           ", expected a row for each of ", one.best.size(), " evaluations");
    auto const row = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(winner - 1) * shape[1]);
    one.factors.assign(row, row + static_cast<std::ptrdiff_t>(shape[1]));
    one.units = course.array("best").units;
    one.objective = from.attribute<std::string>("objective");
    out.search.push_back(std::move(one));
  }
}

// Of a task what its lengths count, else tokens.
std::optional<std::int64_t> trained_length_of(StudyView const& study) {
  auto const of_task = one_value_of(study, "train.longest_example");
  return of_task ? of_task : one_value_of(study, "train.length");
}

void read_provenance(StudyView& out, Group const& from) {
  out.facts = facts_of(from);
  out.diff = long_text(from, "diff");
  auto const column = [&](std::string const& path, std::size_t i) {
    auto const values = texts(from, path);
    return i < values.size() ? values[i] : std::string();
  };
  for (std::size_t i = 0; i < texts(from, "libraries/name").size(); ++i)
    out.libraries.push_back({column("libraries/name", i), column("libraries/version", i)});
  for (std::size_t i = 0; i < texts(from, "plugins/name").size(); ++i)
    out.plugins.push_back({column("plugins/name", i), column("plugins/version", i), column("plugins/origin", i),
                           column("plugins/sha256", i), column("plugins/source", i)});
  for (std::size_t i = 0; i < texts(from, "inputs/name").size(); ++i) {
    auto const bytes = from.has_array("inputs/bytes") ? from.integers("inputs/bytes") : std::vector<std::int64_t>();
    out.inputs.push_back({column("inputs/name", i), column("inputs/kind", i), column("inputs/sha256", i),
                          column("inputs/licence", i), i < bytes.size() ? bytes[i] : 0});
  }
}
}  // namespace

StudyView load_study(fs::path const& path) {
  Group const root = results::read_file(path);
  std::string const schema = attribute(root, "schema");
  expect(schema == "sextant-results/1", path.string(), ": schema is \"", schema, "\", expected \"sextant-results/1\"");
  StudyView out;
  out.file = path.string();
  out.name = root.has_attribute("study") ? attribute(root, "study") : path.stem().string();
  out.title = root.has_attribute("title") ? attribute(root, "title") : out.name;
  out.question = attribute(root, "question");
  out.tier = attribute(root, "tier");
  out.baseline = attribute(root, "baseline");
  out.created = attribute(root, "file_time");
  std::string const version = attribute(root, "creator_version");
  out.creator = version.empty() ? attribute(root, "creator") : cat({attribute(root, "creator"), " ", version});
  out.sources = root.attribute<std::vector<std::string>>("sources", {});
  for (auto const& row : results::table(root.group("summary/results")))
    out.rows.push_back({row.run, row.seed, row.encoding, row.scaling, row.probe, row.length, row.region, row.metric,
                        row.value, row.error, row.n, row.units});
  for (auto const& [id, group] : root.group("runs").groups) {
    out.runs.push_back(run_of(id, group));
    add_controls(group, out.controls);
  }
  if (root.has_attribute("trained_length"))
    out.trained_length = root.attribute<std::int64_t>("trained_length");
  else
    out.trained_length = trained_length_of(out);
  if (Group const* const search = root.find_group("search")) read_search(out, *search);
  if (Group const* const provenance = root.find_group("provenance")) read_provenance(out, *provenance);
  if (Group const* const claimed = root.find_group("summary/claims")) out.claims = claims::from_group(*claimed);
  if (Group const* const published = root.find_group("reference")) out.published = claims::published_from(*published);
  out.spec_source = long_text(root, "spec/source");
  out.spec_resolved = long_text(root, "spec/resolved");
  return out;
}

}  // namespace sextant::report
