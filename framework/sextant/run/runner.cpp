#include <sextant/base/error.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/results/study.hpp>
#include <sextant/run/runner.hpp>
#include <sextant/run/stop.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

namespace sextant::run {
namespace {

/// A training shorter than this tells nothing about the machine's speed.
constexpr double telling_flop = 5e11;

class Runner {
 public:
  Runner(Exec const& exec, plan::Plan const& plan, encoding::Registry const& registry, RunOptions const& options)
      : exec_(exec),
        plan_(plan),
        registry_(registry),
        options_(options),
        store_(options.folder),
        others_(options.reuse.begin(), options.reuse.end()),
        progress_(remaining_seconds(), options.quiet) {}

  results::Store const& store() const { return store_; }
  Outcome const& outcome() const { return outcome_; }

  /// Passes over the plan until nothing is left that this process can do: a stage held by another runner is looked at
  /// again on the next pass.
  void run() {
    try {
      for (bool waiting = true; waiting;) {
        waiting = false;
        for (auto const& stage : plan_.train)
          if (wanted(stage)) waiting |= !carry_out(stage);
        if (waiting) {
          stop_point("while another runner finishes");
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
        }
      }
    } catch (Stopped const& stop) {
      outcome_.stopped = stop_requested();
      progress_.say(stop.what());
    }
  }

 private:
  bool wanted(std::string const& arm) const { return options_.only.empty() || options_.only == arm; }
  /// Also what a wanted arm goes on from.
  bool wanted(plan::TrainStage const& stage) const {
    return wanted(stage.arm) || std::any_of(plan_.train.begin(), plan_.train.end(), [&](plan::TrainStage const& other) {
             return other.parent == stage.id && wanted(other);
           });
  }

  /// Of what is not done yet; notes which stages those are.
  double remaining_seconds() {
    double sum = 0;
    auto const add = [&](bool asked_for, std::string const& id, double seconds) {
      if (asked_for && !store_.done(id) && expected_.insert(id).second) sum += seconds;
    };
    for (auto const& stage : plan_.train) add(wanted(stage), stage.id, stage.cost.seconds);
    for (auto const& stage : plan_.evaluate) add(wanted(stage.arm), stage.id, stage.cost.seconds);
    return sum;
  }

  Source const& source_of(plan::TrainStage const& stage) {
    auto const& data = stage.data;
    // A text is read once; a task costs nothing to make.
    std::string const key = data.task.empty() ? text(data.corpus, '\n', data.tokens) : stage.id;
    auto const found = sources_.find(key);
    return found != sources_.end() ? found->second
                                   : sources_.emplace(key, load_source(data, registry_, options_.cache)).first->second;
  }

  /// Counts a stage once that was done before this run, or that another process has done since.
  bool already(std::string const& id, double seconds) {
    if (!store_.done(id)) return false;
    if (settled_.insert(id).second) {
      ++outcome_.repeated;
      if (expected_.count(id)) progress_.skip(seconds);
    }
    return true;
  }

  /// True when the stage is done or has failed: nothing to wait for.
  template <class Work>
  bool attempt(std::string const& id, std::string const& name, double seconds, Work&& work) {
    if (settled_.count(id) || already(id, seconds)) return true;
    auto const claim = store_.try_claim(id);
    if (!claim) return already(id, seconds);
    if (take_over(*claim)) {
      progress_.skip(seconds);
      settled_.insert(id);
      return true;
    }
    progress_.start(name, seconds);
    try {
      results::Group record = work(*claim);
      store_.write(*claim, record);
      ++outcome_.done;
      progress_.finish("done");
    } catch (Stopped const&) {
      throw;
    } catch (std::exception const& error) {
      store_.fail(*claim, error.what());
      progress_.finish(text("FAILED: ", error.what()));
      fail_stage(id, name, error.what());
    }
    settled_.insert(id);
    return true;
  }

  /// True when another study had finished the stage: its id is a hash of all that decides its numbers.
  bool take_over(results::Claim const& claim) {
    for (auto const& other : others_)
      if (other.done(claim.id())) {
        store_.copy(claim, other);
        ++outcome_.taken;
        return true;
      }
    return false;
  }

  void fail_stage(std::string const& id, std::string const& name, std::string const& message) {
    outcome_.failures.push_back({id, name, message});
    failed_.insert(id);
    if (options_.fail_fast) throw Stopped("stopped at the first failure, as --fail-fast says");
  }

  /// Counts a stage as failed because the one that it goes on from has.
  void give_up(plan::TrainStage const& stage) {
    failed_.insert(stage.id);
    if (settled_.insert(stage.id).second) progress_.skip(stage.cost.seconds);
  }

  /// True when the train stage and all that measures it are settled.
  bool carry_out(plan::TrainStage const& stage) {
    std::string const name = fmt::format("{} seed {}", stage.arm, stage.seed);
    if (failed_.count(stage.parent)) give_up(stage);
    if (!stage.parent.empty() && !store_.done(stage.parent) && !failed_.count(stage.id)) return false;
    bool const settled = attempt(stage.id, name, stage.cost.seconds, [&](results::Claim const& claim) {
      Network network = first_network(stage, registry_, store_, options_.cache);
      auto record =
          train(exec_, stage, source_of(stage), network, note_of(stage, network, options_.cache), claim, progress_);
      auto const walls = record.group("train").numbers("wall");
      double const wall = walls.empty() ? 0 : walls.back();
      if (wall > 0 && stage.cost.flop >= telling_flop) outcome_.gflops = stage.cost.flop / wall / 1e9;
      return record;
    });
    if (!settled) return false;
    bool all = true;
    std::optional<Network> network;
    for (auto const& measure : plan_.evaluate) {
      if (measure.train_id != stage.id) continue;
      std::string const what = fmt::format("{}{}  {} at {}", name, measure.view == "none" ? "" : " " + measure.view,
                                           measure.evaluation.name, measure.length);
      if (failed_.count(stage.id)) {
        if (settled_.insert(measure.id).second) progress_.skip(measure.cost.seconds);
        continue;
      }
      all &= attempt(measure.id, what, measure.cost.seconds, [&](results::Claim const&) {
        if (!network) {
          network.emplace(make_network(stage, registry_, model::Start::zero));
          model::load_parameters(weights_file(store_, stage.id), *network);
        }
        Network seen = network->with_position(make_position(stage.model, measure.position, registry_, measure.seen()));
        return evaluate(exec_, measure, plan_, run_id(stage.id, measure.view), source_of(stage), seen, progress_);
      });
    }
    return all;
  }

  Exec const& exec_;
  plan::Plan const& plan_;
  encoding::Registry const& registry_;
  RunOptions const& options_;
  results::Store store_;
  std::vector<results::Store> others_;
  Outcome outcome_;
  std::set<std::string> settled_, failed_, expected_;  // expected_: not done when this run began
  std::map<std::string, Source> sources_;
  Progress progress_;
};

}  // namespace

std::string run_id(std::string const& train_id, std::string const& view) {
  return view == "none" ? train_id : sha256(train_id + "/" + view).substr(0, 16);
}

void expect_arm(spec::Spec const& spec, std::string const& only) {
  if (only.empty()) return;
  std::vector<std::string> arms;
  for (auto const& arm : spec.arms) arms.push_back(arm.label);
  expect(std::find(arms.begin(), arms.end(), only) != arms.end(), "--only: there is no arm ", only,
         did_you_mean(only, arms));
}

Outcome run_plan(Exec const& exec, spec::Spec const& spec, plan::Plan const& plan, encoding::Registry const& registry,
                 RunOptions const& options) {
  expect_arm(spec, options.only);
  std::string const started = results::now_iso8601();
  Runner runner(exec, plan, registry, options);
  runner.run();
  Outcome outcome = runner.outcome();
  outcome.study_file = runner.store().study_file();
  bool const shown = fs::exists(outcome.study_file) &&
                     digest_of_file(outcome.study_file).state == digest_of(plan, runner.store(), spec).state;
  if (!shown) publish(spec, plan, registry, runner.store(), options, started);
  return outcome;
}

}  // namespace sextant::run
