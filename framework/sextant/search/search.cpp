#include <sextant/base/error.hpp>
#include <sextant/extend/needles.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/plan/plan.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/search/search.hpp>
#include <sextant/statistics/sample.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sextant::search {
namespace {
using encoding::Choice;
using results::Group;

/// Raised whenever an evaluation would find another value than before.
constexpr int revision = 1;

Rotation rotation_of(Task const& task) {
  return {task.subject.position, task.subject.network->position().shape(), task.target, task.registry};
}

extend::Settings settings_of(Task const& task) {
  return {.lengths = {task.target}, .tail = task.tail, .depths = task.aim == Aim::needle ? task.depths : 0, .rows = 0};
}

std::vector<double> losses_of_documents(Exec const& exec, extend::Work const& work, run::Network& network,
                                        run::Progress& progress) {
  std::vector<double> out;
  for (auto const& document : work.documents) {
    run::stop_point("while reading documents; evaluations that are done are kept");
    auto const read = std::span(document.tokens).first(static_cast<std::size_t>(work.settings.longest()) + 1);
    auto const loss = extend::losses(exec, network, read);
    out.push_back(statistics::mean(std::span(loss).last(static_cast<std::size_t>(work.settings.tail))));
    progress.update(static_cast<double>(out.size()) / static_cast<double>(work.documents.size()));
  }
  return out;
}

std::vector<double> losses_of_needles(Exec const& exec, extend::Work const& work, run::Network& network,
                                      run::Progress& progress) {
  std::vector<double> out;
  int const depths = work.settings.depths;
  for (std::size_t n = 0; n < work.documents.size(); ++n)
    for (int d = 0; d < depths; ++d) {
      run::stop_point("while looking for passkeys; evaluations that are done are kept");
      auto const needle = extend::make_needle(work.subject, work.documents[n], work.settings.longest(),
                                              (d + 0.5) / depths, extend::passkey(out.size()));
      out.push_back(extend::answer_of(exec, network, needle).loss);
      progress.update(static_cast<double>(out.size()) /
                      static_cast<double>(work.documents.size() * std::size_t(depths)));
    }
  return out;
}

/// search/objective, and the values that it is the mean of.
Group measure(Exec const& exec, extend::Work const& work, extend::Arm const& arm, Aim aim, run::Progress& progress) {
  auto network = extend::seen_by(work, arm, work.settings.longest());
  auto const each = (aim == Aim::loss ? losses_of_documents : losses_of_needles)(exec, work, network, progress);
  Group record;
  record.set("kind", "search");
  record["search"].put("each", each, "nat/token", "loss of each document, or of each document and depth");
  record["search"].put("objective", std::vector<double>{statistics::mean(each)}, "nat/token", "their mean");
  return record;
}

/// Points evaluated through the store.
class Evaluator {
 public:
  Evaluator(Exec const& exec, Task const& task, Rotation const& rotation, results::Store const& store, bool quiet)
      : exec_(exec),
        task_(task),
        rotation_(rotation),
        store_(store),
        quiet_(quiet),
        settings_(settings_of(task)),
        world_(plan::world_of(task.registry, {}, {})) {}

  template <class Point>
  Objective<Point> as(std::string const& method) {
    return [this, method, done = 0](std::vector<Trial<Point>> const& page) mutable {
      std::vector<Choice> scalings;
      std::vector<std::string> names;
      for (auto const& trial : page) {
        scalings.push_back(rotation_.scaling_of(trial.point));
        names.push_back(text(method, " ", ++done, "/", task_.settings.budget, "  ", trial.origin));
      }
      return values(scalings, names);
    };
  }

 private:
  std::vector<double> values(std::vector<Choice> const& scalings, std::vector<std::string> const& names) const {
    std::vector<extend::Arm> arms;
    for (std::size_t n = 0; n < scalings.size(); ++n) arms.push_back({names[n], rotation_.under(scalings[n]), false});
    extend::Work const work{task_.subject, task_.documents, arms, settings_, task_.registry};
    std::vector<extend::Stage> stages;
    for (auto const& arm : arms) stages.push_back(stage_of(work, arm));
    wait_for(stages);
    std::vector<double> out;
    for (auto const& stage : stages) out.push_back(store_.read(stage.id).values<double>("search/objective", {1})[0]);
    return out;
  }

  extend::Stage stage_of(extend::Work const& work, extend::Arm const& arm) const {
    nlohmann::json const how = {{"revision", revision}, {"tail", settings_.tail}, {"depths", settings_.depths}};
    double const texts = static_cast<double>(task_.documents.size()) * std::max(settings_.depths, 1);
    return {extend::identity(work, world_, arm, text("search/", name_of(task_.aim)), how.dump()),
            arm.label,
            arm.label,
            texts * task_.target,
            "",
            [&work, &arm, aim = task_.aim](Exec const& exec, results::Claim const&, run::Progress& progress) {
              return measure(exec, work, arm, aim, progress);
            }};
  }

  /// Carries the stages out; those that another process is at, it does.
  void wait_for(std::vector<extend::Stage> const& stages) const {
    auto const missing = [&] {
      return std::any_of(stages.begin(), stages.end(), [&](auto const& stage) { return !store_.done(stage.id); });
    };
    while (missing()) {
      run::stop_point("while searching; evaluations that are done are kept");
      extend::carry_out(exec_, stages, store_, quiet_);
      if (missing()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }

  Exec const& exec_;
  Task const& task_;
  Rotation const& rotation_;
  results::Store const& store_;
  bool quiet_;
  extend::Settings settings_;
  plan::World world_;
};

template <class Point>
Course course_of(std::string method, Trace<Point> const& trace, Rotation const& rotation) {
  Course out{std::move(method), {}, trace.best_so_far(), 0};
  for (auto const& trial : trace.trials) {
    auto const scaling = rotation.scaling_of(trial.point);
    Row row{scaling, {}, trial.origin, trial.generation, trial.objective};
    if constexpr (std::is_same_v<Point, Genome>)
      row.genome = trial.point;
    else
      row.genome = rotation.genome_of(scaling);
    out.rows.push_back(std::move(row));
  }
  out.best = static_cast<std::size_t>(&trace.best() - trace.trials.data());
  return out;
}
}  // namespace

char const* name_of(Aim aim) { return aim == Aim::loss ? "loss" : "needle"; }

Aim aim_of(std::string const& name) {
  for (Aim const aim : {Aim::loss, Aim::needle})
    if (name == name_of(aim)) return aim;
  fail("search: the objective is ", name, ", expected loss or needle", did_you_mean(name, {"loss", "needle"}));
}

std::vector<Course> carry_out(Exec const& exec, Task const& task, results::Store const& store, bool quiet) {
  Rotation const rotation = rotation_of(task);
  auto const starts = rotation.starts();
  auto const space = rotation.space(task.step);
  task.settings.check(starts.size());
  expect(task.aim == Aim::loss || task.depths > 0, "search: passkeys at ", task.depths, " depths, expected at least 1");
  settings_of(task).check(task.subject, task.documents);
  Evaluator evaluate(exec, task, rotation, store, quiet);
  std::vector<Course> out;
  out.push_back(
      course_of("evolution", evolve(space, starts, task.settings, evaluate.as<Genome>("evolution")), rotation));
  out.push_back(
      course_of("random", draw_at_random(space, starts, task.settings, evaluate.as<Genome>("random")), rotation));
  out.push_back(course_of(
      "yarn-tuned", tune_yarn(rotation.released_yarn(), task.settings, evaluate.as<YarnPoint>("yarn")), rotation));
  return out;
}

std::vector<extend::Arm> arms_of(Task const& task, std::vector<Course> const& courses) {
  Rotation const rotation = rotation_of(task);
  auto const arm = [&](std::string label, Choice const& scaling) {
    auto const choice = rotation.under(scaling);
    encoding::Position const position(choice, task.registry, task.subject.network->position().shape(), task.target);
    return extend::Arm{std::move(label), choice, position.follows_length()};
  };
  std::vector<extend::Arm> out{{"none", task.subject.position, false}};
  for (auto const& start : rotation.starts())
    out.push_back(arm(start.name, {start.name, {{"factor", rotation.factor()}}, {}}));
  for (auto const& course : courses) out.push_back(arm(course.method, course.winner().scaling));
  return out;
}

results::Group group_of(Task const& task, std::vector<Course> const& courses) {
  Group out;
  auto const& s = task.settings;
  out.set("objective", name_of(task.aim)).set("target_length", task.target).set("encoding", task.subject.name);
  out.set("trained_length", task.subject.position.trained_length).set("budget", s.budget);
  out.set("population", s.population).set("parents", s.parents).set("mutations", s.mutations);
  out.set("crossovers", s.crossovers).set("chance", s.chance).set("step", task.step);
  out.set("seed", static_cast<std::int64_t>(s.seed));
  for (auto const& course : courses) {
    auto& group = out[course.method];
    std::size_t const n = course.rows.size(), pairs = course.rows.front().genome.factors.size();
    std::vector<std::int64_t> evaluation, pair, generation, kept;
    std::vector<double> objective, magnitude, factors;
    std::vector<std::string> origin;
    for (std::size_t k = 0; k < n; ++k) {
      auto const& row = course.rows[k];
      evaluation.push_back(static_cast<std::int64_t>(k) + 1);
      generation.push_back(row.generation), kept.push_back(row.genome.kept);
      objective.push_back(row.objective), magnitude.push_back(row.genome.magnitude);
      factors.insert(factors.end(), row.genome.factors.begin(), row.genome.factors.end());
      origin.push_back(row.origin);
    }
    for (std::size_t i = 0; i < pairs; ++i) pair.push_back(static_cast<std::int64_t>(i));
    group.set("winner", static_cast<std::int64_t>(course.best) + 1);
    group.put("evaluation", evaluation, "1", "number of the evaluation, from 1");
    group.put("pair", pair, "1", "pair of channels, the fastest first");
    group.put("objective", objective, "nat/token", "what the search minimises").along({"evaluation"});
    group.put("best", course.best_so_far, "nat/token", "lowest objective so far").along({"evaluation"});
    group.put("generation", generation, "1", "generation that the point was bred in").along({"evaluation"});
    group.put("kept_tokens", kept, "token", "first tokens that turn as trained").along({"evaluation"});
    group.put("magnitude", magnitude, "1", "multiplies cos and sin").along({"evaluation"});
    group.put("factors", {n, pairs}, factors, "1", "divisor of each pair's frequency").along({"evaluation", "pair"});
    group.put("origin", origin, "where the point comes from");
    group.plot("best", {"evaluation"});
  }
  return out;
}

}  // namespace sextant::search
