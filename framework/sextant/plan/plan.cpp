#include <sextant/base/error.hpp>
#include <sextant/plan/identity.hpp>
#include <sextant/plan/plan.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sextant::plan {
namespace {
using encoding::Auto;
using encoding::PositionChoice;
using spec::Arm;
using spec::Evaluation;
using spec::Spec;
using spec::View;

class Planner {
 public:
  Planner(Spec const& spec, World const& world) : spec_(spec), world_(world) {
    plan_.study = spec.study;
    plan_.title = spec.title;
    plan_.file = spec.file;
    plan_.budget = spec.budget;
    plan_.places = spec.arms.at(0).setting.places;
    plan_.machine = world.machine;
  }

  Plan run() {
    for (auto const& arm : spec_.arms) add_arm(arm);
    for (auto const& stage : plan_.train) sum(stage.cost);
    for (auto const& stage : plan_.evaluate)
      if (!stage.repeats) sum(stage.cost);
    return std::move(plan_);
  }

 private:
  std::string at(spec::Places const& places, std::string const& key) const {
    return spec::place_of(places, key, spec_.file);
  }

  CorpusFacts corpus(Arm const& arm) {
    try {
      return world_.corpus(arm.setting.data);
    } catch (Error const& error) {
      fail(at(arm.setting.places, "data.corpus"), ": data.corpus: ", error.what());
    }
  }

  void check_text(Arm const& arm) {
    auto const& setting = arm.setting;
    auto const [sha256, train, test] = corpus(arm);
    expect(train > setting.train.length, at(setting.places, "train.length"), ": train.length is ", setting.train.length,
           ", but ", setting.data.corpus, " has ", train, " tokens to train on; expected a length below that");
    for (std::size_t i = 0; i < setting.evaluate.size(); ++i) {
      Evaluation const& evaluation = setting.evaluate[i];
      std::int64_t const places = test - evaluation.span();
      std::string const key = "evaluate." + std::to_string(i);
      expect(places > 0, at(setting.places, key + ".lengths"), ": ", key, ".lengths has ", evaluation.span(), ", but ",
             setting.data.corpus, " has ", test, " tokens to test on; expected lengths below that");
      expect(places >= evaluation.windows, at(setting.places, key + ".windows"), ": ", key, ".windows is ",
             evaluation.windows, ", but ", test, " test tokens hold ", places, " windows of ", evaluation.span(),
             "; expected at most that many");
    }
  }

  static int setting_length(Arm const& arm) { return arm.setting.train.length; }

  PositionFacts facts(Arm const& arm, PositionChoice const& position, int target, std::string const& place,
                      std::string const& what) {
    PositionFacts facts;
    try {
      facts = world_.position(arm.setting.model, position, target);
    } catch (Error const& error) {
      fail(place, ": ", what, ": ", error.what());
    }
    if (facts.sampler)
      expect(target <= facts.sampler->below || (target > setting_length(arm) && !facts.sampler->evaluates), place, ": ",
             what, ": ", target, " positions cannot be drawn from ", facts.sampler->below,
             " without repetition; expected a larger range, or shorter rows");
    expect(facts.table_length == 0 || !facts.sampler || facts.sampler->below <= facts.table_length, place, ": ", what,
           ": positions are drawn from ", facts.sampler ? facts.sampler->below : 0, ", past the learned table of ",
           facts.table_length, " positions; expected at most that many");
    expect(facts.table_length == 0 || target <= facts.table_length, place, ": ", what, ": ", target,
           " tokens reach past the learned table of ", facts.table_length, " positions; expected at most that many");
    return facts;
  }

  void add_arm(Arm const& arm) {
    check_text(arm);
    auto const& setting = arm.setting;
    TrainStage base;
    base.arm = arm.label;
    base.labels = arm.labels;
    base.model = setting.model;
    base.position = settle(setting.position, setting.train.length);
    base.data = setting.data;
    base.train = setting.train;
    PositionFacts const trained =
        facts(arm, base.position, setting.train.length, at(setting.places, "position.encoding"), arm.label);
    base.cost = train_cost(base.model, base.train, trained, world_.machine);
    auto const measured = measurements(arm, trained);
    for (std::int64_t const seed : setting.train.seeds) {
      TrainStage stage = base;
      stage.seed = seed;
      stage.order_seed = setting.data.order.seed.value_or(seed);
      stage.canonical = canonical_train(stage, world_);
      stage.id = id_of(stage.canonical);
      auto const [known, is_new] = trained_.emplace(stage.id, arm.label);
      add_measurements(measured, stage, known->second);
      if (is_new)
        plan_.train.push_back(std::move(stage));
      else
        plan_.notes.push_back(text(arm.label, " with seed ", seed, " is the same model as ", known->second,
                                   ", and stands in the results under that name alone"));
    }
  }

  // `owner`: the arm that a model of this id was first planned for. An arm that is another once more adds nothing.
  void add_measurements(std::vector<EvaluateStage> measured, TrainStage const& train, std::string const& owner) {
    for (auto& measure : measured) {
      measure.seed = train.seed;
      measure.train_id = train.id;
      measure.canonical = canonical_evaluate(measure, world_);
      measure.id = id_of(measure.canonical);
      measure.repeats = !evaluated_.insert(measure.id).second;
      expect(owner == train.arm || measure.repeats, spec_.file, ": ", train.arm, " is the same model as ", owner,
             " but is measured under ", measure.view, " by ", measure.evaluation.name, " as that one is not; expected ",
             "arms that differ, or the same measurements");
      if (owner == train.arm) plan_.evaluate.push_back(std::move(measure));
    }
  }

  // Every evaluation under every view at every length, for any seed.
  std::vector<EvaluateStage> measurements(Arm const& arm, PositionFacts const& trained) {
    std::vector<EvaluateStage> stages;
    for (auto const& view : arm.views)
      for (auto const& evaluation : arm.setting.evaluate) {
        if (std::find(view.evaluations.begin(), view.evaluations.end(), evaluation.name) == view.evaluations.end())
          continue;
        for (int const length : evaluation.lengths)
          stages.push_back(measurement(arm, view, evaluation, length, trained));
      }
    return stages;
  }

  EvaluateStage measurement(Arm const& arm, View const& view, Evaluation const& evaluation, int length,
                            PositionFacts const& trained) {
    EvaluateStage stage;
    stage.arm = arm.label;
    stage.view = view.label;
    stage.labels = arm.labels;
    stage.labels.insert(view.labels.begin(), view.labels.end());
    stage.length = length;
    stage.span = evaluation.span();
    stage.evaluation = evaluation;
    stage.model = arm.setting.model;
    stage.data = arm.setting.data;
    stage.rows = evaluate_rows(evaluation, stage.seen());
    stage.position = settle(view.position, stage.seen());
    std::string const place =
        at(view.places, view.position.scalings.empty() ? "position.encoding" : "position.scaling");
    std::string const what = text(arm.label, " under ", view.label, " at ", length, " tokens (", evaluation.name, ")");
    PositionFacts const seen = facts(arm, stage.position, stage.seen(), place, what);
    expect(seen.parameters == trained.parameters, place, ": ", what, " has ", seen.parameters,
           " trained numbers of its own, expected the ", trained.parameters, " that it was trained with");
    stage.cost = evaluate_cost(stage.model, evaluation, stage.rows, stage.seen(), seen, world_.machine);
    return stage;
  }

  void sum(Cost const& cost) {
    plan_.total.parameters = std::max(plan_.total.parameters, cost.parameters);
    plan_.total.bytes = std::max(plan_.total.bytes, cost.bytes);
    plan_.total.flop += cost.flop;
    plan_.total.seconds += cost.seconds;
  }

  Spec const& spec_;
  World const& world_;
  Plan plan_;
  std::map<std::string, std::string> trained_;  // id -> arm
  std::set<std::string> evaluated_;
};
}  // namespace

PositionChoice settle(PositionChoice position, int seen) {
  for (auto& scaling : position.scalings) {
    auto const factor = scaling.options.find("factor");
    if (factor == scaling.options.end() || !std::holds_alternative<Auto>(factor->second)) continue;
    factor->second = std::max(1.0, static_cast<double>(seen) / position.trained_length);
  }
  return position;
}

Plan make_plan(Spec const& spec, World const& world) { return Planner(spec, world).run(); }

}  // namespace sextant::plan
