#include <sextant/base/error.hpp>
#include <sextant/plan/identity.hpp>
#include <sextant/plan/plan.hpp>
#include <sextant/plan/recompute.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
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
      std::string const key = arm.setting.data.task.empty() ? "data.corpus" : "data.task";
      fail(at(arm.setting.places, key), ": ", key, ": ", error.what());
    }
  }

  void check_text(Arm const& arm) {
    auto const& setting = arm.setting;
    auto const facts = corpus(arm);
    if (facts.row_length) return check_task(arm, facts);
    std::int64_t const test = facts.test;
    auto const check_length = [&](char const* key, int length) {
      expect(facts.train > length, at(setting.places, key), ": ", key, " is ", length, ", but ", setting.data.corpus,
             " has ", facts.train, " tokens to train on; expected a length below that");
    };
    check_length("train.length", setting.train.length);
    if (setting.tune) check_length("tune.length", setting.tune.length);
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

  void check_task(Arm const& arm, CorpusFacts const& facts) {
    auto const& setting = arm.setting;
    auto const row_of = [&](std::string const& key, int length) {
      try {
        return facts.row_length(length);
      } catch (Error const& error) {
        fail(at(setting.places, key), ": ", key, ": ", setting.data.task[0].use, ": ", error.what());
      }
    };
    int const needed = row_of("data.task", facts.longest);
    auto const check_length = [&](char const* key, int length) {
      expect(length >= needed, at(setting.places, key), ": ", key, " is ", length, ", but ", setting.data.task[0].use,
             " of lengths up to ", facts.longest, " has rows of ", needed, " tokens; expected at least that");
    };
    check_length("train.length", setting.train.length);
    if (setting.tune) check_length("tune.length", setting.tune.length);
    for (std::size_t i = 0; i < setting.evaluate.size(); ++i)
      for (int const length : setting.evaluate[i].lengths) row_of("evaluate." + std::to_string(i) + ".lengths", length);
  }

  // Longest row that the arm's model was trained or tuned at.
  static int setting_length(Arm const& arm) {
    auto const& setting = arm.setting;
    return setting.tune ? std::max(setting.train.length, setting.tune.length) : setting.train.length;
  }

  // One past the largest position of an example that long; of a text or a plain task: `tokens`.
  static int reach_of(CorpusFacts const& data, int length, int tokens) {
    return data.reach ? data.reach(length) : tokens;
  }
  int trained_reach(Arm const& arm, int tokens) {
    auto const data = corpus(arm);
    return reach_of(data, data.longest, tokens);
  }

  // `target`: tokens of a row; `reach`: one past their largest position.
  PositionFacts facts(Arm const& arm, PositionChoice const& position, int target, int reach, std::string const& place,
                      std::string const& what) {
    PositionFacts facts;
    try {
      facts = world_.position(arm.setting.model, position, target);
    } catch (Error const& error) {
      fail(place, ": ", what, ": ", error.what());
    }
    expect(!facts.sampler || !corpus(arm).reach, place, ": ", what, " draws the positions of tokens, and ",
           arm.setting.data.task.empty() ? "" : arm.setting.data.task[0].use,
           " says where they stand; expected another encoding, or another task");
    if (facts.sampler)
      expect(target <= facts.sampler->below || (target > setting_length(arm) && !facts.sampler->evaluates), place, ": ",
             what, ": ", target, " positions cannot be drawn from ", facts.sampler->below,
             " without repetition; expected a larger range, or shorter rows");
    expect(facts.table_length == 0 || !facts.sampler || facts.sampler->below <= facts.table_length, place, ": ", what,
           ": positions are drawn from ", facts.sampler ? facts.sampler->below : 0, ", past the learned table of ",
           facts.table_length, " positions; expected at most that many");
    expect(facts.table_length == 0 || reach <= facts.table_length, place, ": ", what, ": ",
           reach == target ? text(target, " tokens reach") : text("positions up to ", reach - 1, " reach"),
           " past the learned table of ", facts.table_length, " positions; expected at most that many");
    return facts;
  }

  // The vocabulary is that of the text; a pretrained model has its own, and the text's must be the same or within it.
  void settle_vocabulary(Arm& arm) {
    auto const text = corpus(arm);
    spec::Model& model = arm.setting.model;
    if (model.from.empty()) model.vocabulary = text.vocabulary;
    bool const same =
        model.from.empty() || model.tokenizer_sha256.empty() || model.tokenizer_sha256 == text.tokenizer_sha256;
    expect(same && text.vocabulary <= model.vocabulary, at(arm.setting.places, "data.tokens"), ": data.tokens is ",
           arm.setting.data.tokens, " with ", text.vocabulary, " tokens, but ", model.from, " has ", model.vocabulary,
           "; expected the tokenizer of the model");
  }

  void settle_cost(TrainStage& stage, PositionFacts const& facts) const {
    stage.cost = train_cost(stage.model, stage.train, facts, world_.machine);
    stage.recompute = should_recompute(stage.cost, spec_.budget.memory.value_or(world_.machine.memory));
    if (stage.recompute) stage.cost = train_cost(stage.model, stage.train, facts, world_.machine, true);
  }

  TrainStage training(Arm const& arm, PositionFacts const& facts) const {
    auto const& setting = arm.setting;
    TrainStage stage;
    stage.arm = setting.tune ? arm.trained_label : arm.label;
    stage.labels = setting.tune ? arm.trained_labels : arm.labels;
    stage.model = setting.model;
    stage.position = settle(setting.position, setting.train.length);
    stage.data = setting.data;
    stage.train = setting.train;
    settle_cost(stage, facts);
    return stage;
  }

  TrainStage tuning(Arm const& arm, PositionFacts const& facts) const {
    auto const& setting = arm.setting;
    TrainStage stage;
    stage.arm = arm.label;
    stage.labels = arm.labels;
    stage.batches_before = setting.train.steps;
    stage.model = setting.model;
    stage.position = tuned_position(setting);
    stage.data = setting.data;
    stage.train = setting.tune;
    settle_cost(stage, facts);
    return stage;
  }

  static PositionChoice tuned_position(spec::Setting const& setting) {
    return settle({setting.tune.encodings, setting.tune.scalings, setting.position.trained_length},
                  setting.tune.length);
  }

  void add_arm(Arm arm) {
    settle_vocabulary(arm);
    check_text(arm);
    auto const& setting = arm.setting;
    int const trained_length = setting.train.length;
    PositionFacts const trained =
        facts(arm, settle(setting.position, trained_length), trained_length, trained_reach(arm, trained_length),
              at(setting.places, "position.encoding"), arm.label);
    TrainStage const base = training(arm, trained);
    std::optional<TrainStage> tuned;
    if (setting.tune) {
      std::string const place = at(setting.places, "tune.encoding");
      int const length = setting.tune.length;
      PositionFacts const facts_of_it =
          facts(arm, tuned_position(setting), length, trained_reach(arm, length), place, arm.label);
      expect(facts_of_it.parameters == trained.parameters, place, ": ", arm.label, " tunes ", facts_of_it.parameters,
             " numbers of its encoding, expected the ", trained.parameters, " that were trained");
      tuned = tuning(arm, facts_of_it);
    }
    auto const measured = measurements(arm, trained);
    std::vector<TrainStage> bases;
    for (std::int64_t const seed : setting.train.seeds) bases.push_back(add_stage(base, seed, tuned ? "" : arm.label));
    for (TrainStage const& parent : bases) {
      if (!tuned) {
        add_measurements(measured, parent, arm.label);
        continue;
      }
      TrainStage stage = *tuned;
      stage.parent = parent.id;
      add_measurements(measured, add_stage(stage, parent.seed, arm.label), arm.label);
    }
  }

  // `arm`: whose model it is; empty: it is only what other arms go on from, until an arm has it for its own.
  TrainStage add_stage(TrainStage stage, std::int64_t seed, std::string const& arm) {
    stage.seed = seed;
    stage.order_seed = stage.data.order.seed.value_or(seed);
    stage.canonical = canonical_train(stage, world_);
    stage.id = id_of(stage.canonical);
    auto const [known, is_new] = trained_.emplace(stage.id, arm);
    if (is_new) {
      plan_.train.push_back(stage);
    } else if (known->second.empty() && !arm.empty()) {
      known->second = arm;
      auto const at =
          std::find_if(plan_.train.begin(), plan_.train.end(), [&](auto const& t) { return t.id == stage.id; });
      at->arm = stage.arm, at->labels = stage.labels;
    } else if (!arm.empty()) {
      plan_.notes.push_back(text(arm, " with seed ", seed, " is the same model as ", known->second,
                                 ", and stands in the results under that name alone"));
    }
    return stage;
  }

  // An arm that is another once more adds nothing.
  void add_measurements(std::vector<EvaluateStage> measured, TrainStage const& train, std::string const& arm) {
    std::string const& owner = trained_.at(train.id);
    for (auto& measure : measured) {
      measure.seed = train.seed;
      measure.train_id = train.id;
      measure.canonical = canonical_evaluate(measure, world_);
      measure.id = id_of(measure.canonical);
      measure.repeats = !evaluated_.insert(measure.id).second;
      expect(owner == arm || measure.repeats, spec_.file, ": ", arm, " is the same model as ", owner,
             " but is measured under ", measure.view, " by ", measure.evaluation.name, " as that one is not; expected ",
             "arms that differ, or the same measurements");
      if (owner == arm) plan_.evaluate.push_back(std::move(measure));
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
    auto const data = corpus(arm);
    stage.length = length;
    stage.row = data.row_length ? data.row_length(length) : length;
    stage.span = evaluation.span();
    stage.evaluation = evaluation;
    stage.model = arm.setting.model;
    stage.data = arm.setting.data;
    stage.rows = evaluate_rows(evaluation, stage.seen());
    stage.position = settle(view.position, view.as_tuned ? arm.setting.tune.length : stage.seen());
    std::string const place =
        at(view.places, view.position.scalings.empty() ? "position.encoding" : "position.scaling");
    std::string const what = text(arm.label, " under ", view.label, " at ", length, " tokens (", evaluation.name, ")");
    int const reach = reach_of(data, length, stage.seen()) + evaluation.origin;
    PositionFacts const seen = facts(arm, stage.position, stage.seen(), reach, place, what);
    expect(evaluation.origin == 0 || !seen.sampler || !seen.sampler->evaluates, place, ": ", what,
           " draws the positions of tokens, and evaluate.origin moves them; expected one of the two");
    expect(seen.parameters == trained.parameters, place, ": ", what, " has ", seen.parameters,
           " trained numbers of its own, expected the ", trained.parameters, " that it was trained with");
    check_shifts(evaluation, stage.seen(), seen, place, what);
    stage.cost = evaluate_cost(stage.model, evaluation, stage.rows, stage.seen(), seen, world_.machine);
    return stage;
  }

  static void check_shifts(Evaluation const& evaluation, int tokens, PositionFacts const& facts,
                           std::string const& place, std::string const& what) {
    if (evaluation.use != spec::Probe::shift || facts.table_length == 0) return;
    for (auto const& kept : evaluation.keep)
      expect(tokens + spec::number_of(kept) <= facts.table_length, place, ": ", what, ": ", tokens,
             " tokens moved by as many as ", kept, " names reach past the learned table of ", facts.table_length,
             " positions; expected shifts within it in keep, or another encoding");
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
  std::map<std::string, std::string> trained_;  // id -> arm that owns the model; empty: none yet
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
