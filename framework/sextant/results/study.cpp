#include <sextant/results/study.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::results {
namespace {
std::string arm(Run const& run) {
  nlohmann::json out = {{"encoding", run.encoding}, {"scaling", run.scaling}};
  for (auto const& [key, value] : run.labels) out["vary"][key] = value;
  return out.dump();
}

// "failed" before "running" before "planned" before "done": what keeps the run from being whole.
std::string status(Run const& run, Store const& store, std::string& message) {
  std::vector<std::string> all;
  for (std::string const& id : run.stages) {
    all.push_back(store.status(id));
    if (auto const why = store.failure(id); why && message.empty()) message = *why;
  }
  for (char const* const worst : {"failed", "running", "planned"})
    if (std::find(all.begin(), all.end(), worst) != all.end()) return worst;
  return "done";
}

Group run_group(Study const& study, Run const& run, Store const& store, ResultTable& rows) {
  Group out;
  std::string message;
  out.set("status", status(run, store, message)).set("seed", run.seed).set("arm", arm(run));
  out.set("encoding", run.encoding).set("scaling", run.scaling).set("parents", run.parents).set("stages", run.stages);
  out.set("message", message);
  for (std::string const& id : run.stages) {
    if (!store.done(id)) continue;
    Group record = store.read(id);
    if (Group const* const measured = record.find_group("results")) {
      for (ResultRow row : table(*measured)) {  // a record keeps the names of the run that made it
        row.study = study.name;
        row.run = run.id;
        row.seed = run.seed;
        row.encoding = run.encoding;
        row.scaling = run.scaling;
        rows.push_back(std::move(row));
      }
    }
    record.groups.erase("results");
    record.attributes.clear();
    append(out, record);
  }
  return out;
}

void put_spec(Group& into, std::string const& name, std::string const& text, std::string const& what) {
  into.put(name, text, what).attributes["sha256"] = sha256(text);
}
}  // namespace

Group assemble(Study const& study, Store const& store) {
  Group out;
  out.set("schema", study_schema).set("creator", "sextant").set("creator_version", study.creator_version);
  out.set("file_time", now_iso8601()).set("study", study.name).set("title", study.title);
  out.set("NX_class", "NXroot").set("default", "summary");
  put_spec(out["spec"], "source", study.source, "the spec, exactly as given");
  put_spec(out["spec"], "resolved", study.resolved, "the spec, every default filled in");
  out["provenance"] = to_group(study.provenance);

  ResultTable rows;
  Group& runs = out["runs"];
  for (Run const& run : study.runs) {
    expect(!runs.groups.find(run.id), "run ", run.id, " is in the study twice");
    runs[run.id] = run_group(study, run, store, rows);
  }
  Group& summary = out["summary"];
  summary.set("NX_class", "NXentry");
  summary["results"] = columns(rows);
  if (study.claims) summary["claims"] = *study.claims;
  if (!rows.empty()) {
    ResultRow const& first = rows.front();
    summary["curves"] = curves(rows, study.curves.value_or(Quantity{first.probe, first.region, first.metric}));
    summary.set("default", "curves");
  }
  return out;
}

}  // namespace sextant::results
