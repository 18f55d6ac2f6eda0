#include <sextant/base/error.hpp>
#include <sextant/claims/judge.hpp>
#include <sextant/encoding/data_files.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/results/study.hpp>
#include <sextant/run/provenance.hpp>
#include <sextant/run/runner.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sextant::build {
extern char const* const version;
}  // namespace sextant::build

namespace sextant::run {
namespace {

results::Provenance provenance_of(plan::Plan const& plan, encoding::Registry const& registry, RunOptions const& options,
                                  std::string const& started) {
  results::Provenance p = program_provenance(options.command_line, started);
  std::vector<encoding::PositionChoice> positions;
  std::set<std::string> corpora;
  std::vector<encoding::Choice> tasks;
  std::map<std::string, spec::Model> models;  // by sha256
  for (auto const& stage : plan.train) {
    positions.push_back(stage.position);
    if (stage.data.task.empty())
      corpora.insert(stage.data.corpus);
    else
      tasks.push_back(stage.data.task[0]);
    if (!stage.model.from.empty()) models.emplace(stage.model.sha256, stage.model);
  }
  for (auto const& stage : plan.evaluate) positions.push_back({{}, stage.position.scalings, 0});
  add_plugins(p, positions, tasks, registry);
  for (auto const& name : corpora) {
    auto const corpus = tasks::load_corpus(name, options.cache);
    p.inputs.push_back({.name = corpus.name,
                        .kind = "corpus",
                        .bytes = static_cast<std::int64_t>(corpus.bytes.size()),
                        .sha256 = corpus.sha256,
                        .licence = corpus.licence});
  }
  std::set<fs::path> read;
  for (auto const& task : tasks)
    for (auto const& file : encoding::data_files(registry, task))
      if (read.insert(file.path).second)
        p.inputs.push_back({.name = file.path.filename().string(),
                            .kind = "task data",
                            .bytes = file.bytes,
                            .sha256 = file.sha256,
                            .licence = file.licence});
  for (auto const& [sha256, model] : models)
    p.inputs.push_back({.name = fs::path(model.from).filename().string(), .kind = "model", .sha256 = sha256});
  return p;
}

std::vector<results::Run> runs_of(plan::Plan const& plan) {
  std::vector<results::Run> runs;
  for (auto const& train : plan.train) {
    runs.push_back(
        {.id = train.id, .seed = train.seed, .encoding = train.arm, .labels = train.labels, .stages = {train.id}});
    if (!train.parent.empty()) runs.back().parents = {train.parent};
    std::size_t const own = runs.size() - 1;
    for (auto const& measure : plan.evaluate) {
      if (measure.train_id != train.id) continue;
      std::string const id = run_id(train.id, measure.view);
      auto run = std::find_if(runs.begin() + static_cast<std::ptrdiff_t>(own), runs.end(),
                              [&](auto const& r) { return r.id == id; });
      if (run == runs.end()) {
        runs.push_back({.id = id,
                        .seed = train.seed,
                        .encoding = train.arm,
                        .scaling = measure.view,
                        .labels = measure.labels,
                        .parents = {train.id}});
        run = runs.end() - 1;
      }
      run->stages.push_back(measure.id);
    }
  }
  return runs;
}

}  // namespace

StudyDigest digest_of(plan::Plan const& plan, results::Store const& store, spec::Spec const& spec) {
  auto const& claims = spec.claims;
  std::string ids, states;
  auto const add = [&](std::string const& id) {
    ids += id + "\n";
    states += id + " " + store.status(id) + " " + store.failure(id).value_or("") + "\n";
  };
  for (auto const& stage : plan.train) add(stage.id);
  for (auto const& stage : plan.evaluate) add(stage.id);
  if (!claims.empty()) states += text("claims ", claims.family_error, "\n");
  if (!claims.empty() && claims.sample != claims::Sample::seeds) states += text("of ", name_of(claims.sample), "\n");
  for (auto const& claim : claims.list)
    states += text(claim.id, "\n", claim.says, "\n", claim.source, "\n", claim.test, "\n", claim.settled, claim.missing,
                   "\n", spec::number_text(claim.margin.value), " ", claim.margin.units, " ", name_of(claim.by), "\n");
  for (auto const& table : spec.published) {
    states += text("reference ", table.title, "\n", table.source, "\n", table.units, "\n");
    for (auto const& row : table.rows)
      states += text(row.name, "\n", spec::number_text(row.value), " ", row.ours, "\n");
  }
  return {sha256(ids), sha256(states)};
}

StudyDigest digest_of_file(fs::path const& study_file) {
  results::Group const spec = results::read_group(study_file, "spec");
  return {spec.attribute<std::string>("plan_sha256", ""), spec.attribute<std::string>("state_sha256", "")};
}

void publish(spec::Spec const& spec, plan::Plan const& plan, encoding::Registry const& registry,
             results::Store const& store, RunOptions const& options, std::string const& started) {
  results::Study study;
  study.name = spec.study;
  study.title = spec.title;
  study.creator_version = build::version;
  study.source = spec.text;
  study.resolved = spec.resolved;
  study.provenance = provenance_of(plan, registry, options, started);
  study.runs = runs_of(plan);
  results::Group file = results::assemble(study, store);
  file.set("question", spec.question).set("tier", spec.tier).set("baseline", spec.report.baseline);
  if (!spec.source.empty()) file.set("sources", spec.source);
  if (!spec.claims.empty()) file["summary"]["claims"] = claims::to_group(claims::judge(spec.claims, file));
  if (!spec.published.empty()) file["reference"] = claims::to_group(spec.published);
  StudyDigest const digest = digest_of(plan, store, spec);
  file["spec"].set("plan_sha256", digest.plan).set("state_sha256", digest.state);
  store.publish(file);
}

}  // namespace sextant::run
