#include <sextant/encoding/choice_text.hpp>
#include <sextant/extend/extend.hpp>
#include <sextant/extend/gaze.hpp>
#include <sextant/extend/losses.hpp>
#include <sextant/extend/needles.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/extend/tune.hpp>
#include <sextant/plan/identity.hpp>
#include <sextant/run/stop.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <numeric>

namespace sextant::extend {
namespace {
using nlohmann::json;

/// Raised whenever a measurement would find other numbers than before.
constexpr int revision = 1;

double sum(std::vector<int> const& lengths) { return std::accumulate(lengths.begin(), lengths.end(), 0.0); }
}  // namespace

std::string identity(Work const& work, plan::World const& world, Arm const& arm, std::string const& probe,
                     std::string const& how) {
  json texts = json::array();
  for (auto const& document : work.documents) texts.push_back(document.sha256);
  json all = {{"probe", probe},
              {"revision", revision},
              {"numerics", plan::numerics_revision},
              {"model", arm.weights.empty() ? work.subject.sha256 : arm.weights},
              {"documents", texts},
              {"lengths", work.settings.lengths},
              {"position", json::parse(plan::canonical_position(arm.position, world))},
              {"how", json::parse(how)}};
  if (work.subject.network->config().precision == model::Precision::bf16) all["precision"] = plan::bf16_numerics;
  return plan::id_of(all.dump());
}

void Settings::check(Subject const& subject, std::vector<Document> const& documents) const {
  expect(!lengths.empty() && std::is_sorted(lengths.begin(), lengths.end()) && lengths.front() > 1 &&
             std::adjacent_find(lengths.begin(), lengths.end()) == lengths.end(),
         "the lengths must rise, from 2 tokens on");
  expect(subject.position.trained_length > 1, subject.name, " does not say at which length it was trained");
  expect(tail >= 1 && tail <= lengths.front(), "the tail is ", tail, " tokens, expected 1 to the shortest length, ",
         lengths.front());
  expect(tail <= subject.position.trained_length, "the tail is ", tail,
         " tokens, expected at most the trained length, ", subject.position.trained_length);
  expect(!documents.empty(), "there is no document of at least ", longest() + 1, " tokens");
  for (auto const& document : documents)
    expect(document.tokens.size() > static_cast<std::size_t>(longest()), document.name, " has ", document.tokens.size(),
           " tokens, expected at least ", longest() + 1, " to read ", longest(), " of them");
  if (depths > 0) make_needle(subject, documents.front(), lengths.front(), 0.5, 10000);
}

namespace {
/// "rounded {table: int8}".
std::string long_label(std::vector<encoding::Choice> const& scalings) {
  std::vector<std::string> parts;
  for (auto const& choice : scalings) parts.push_back(encoding::text_of(choice));
  return join(parts, "+");
}

/// Whether two of the lists have one short label.
bool share_a_label(std::vector<encoding::PositionChoice> const& positions, std::string const& label) {
  return std::count_if(positions.begin(), positions.end(),
                       [&](auto const& each) { return spec::label_of(each.scalings) == label; }) > 1;
}
}  // namespace

std::vector<Arm> make_arms(Subject const& subject, std::vector<std::vector<encoding::Choice>> const& scalings,
                           Settings const& settings, encoding::Registry const& registry, Tuning const* tuning) {
  std::vector<Arm> arms{{"none", subject.position, false}};
  auto const add = [&](Arm const& arm) {
    for (auto const& other : arms)
      expect(other.label != arm.label, arm.label, " is asked for twice, expected scalings that differ");
    arms.push_back(arm);
  };
  plan::World const world = plan::world_of(registry, {}, {});
  if (tuning) tuning->check(subject);
  std::vector<encoding::PositionChoice> positions;
  for (auto const& list : scalings) {
    auto position = subject.position;
    position.scalings.insert(position.scalings.end(), list.begin(), list.end());
    positions.push_back(plan::settle(std::move(position), settings.longest()));
  }
  for (std::size_t n = 0; n < scalings.size(); ++n) {
    auto const& list = scalings[n];
    Arm arm{"", positions[n], false};
    arm.label = list.empty() ? "none" : spec::label_of(arm.position.scalings);
    if (share_a_label(positions, arm.label)) arm.label = long_label(arm.position.scalings);
    encoding::Position const position(arm.position, registry, subject.network->position().shape(), settings.longest());
    arm.follows_length = position.follows_length();
    if (!list.empty() || !tuning) add(arm);
    if (!tuning) continue;
    arm.weights = tuning_id(subject, arm, *tuning, world);
    arm.label += " tuned";
    add(arm);
  }
  return arms;
}

std::vector<Stage> stages_of(Work const& work) {
  auto const& settings = work.settings;
  plan::World const world = plan::world_of(work.registry, {}, {});
  double const documents = static_cast<double>(work.documents.size());
  std::vector<Stage> out;
  auto const add = [&](Arm const& arm, char const* probe, json const& how, double tokens, auto measure) {
    out.push_back({identity(work, world, arm, probe, how.dump()), arm.label + "  " + probe, arm.label, tokens,
                   arm.weights,
                   [&work, &arm, measure](Exec const& exec, results::Claim const& claim, run::Progress& progress) {
                     return measure(exec, work, arm, claim, progress);
                   }});
  };
  for (auto const& arm : work.arms) {
    if (!arm.weights.empty()) out.push_back(tuning_stage(work, arm));
    add(arm, "lm_loss", {{"tail", settings.tail}},
        documents * (arm.follows_length ? sum(settings.lengths) : settings.longest()), measure_losses);
    if (&arm == &work.arms.front() && !stretched_lengths(work).empty())
      add(arm, "window_control", {{"tail", settings.tail}},
          documents * work.subject.position.trained_length * static_cast<double>(stretched_lengths(work).size()),
          measure_window);
    if (settings.rows > 0)
      add(arm, "attention", {{"rows", settings.rows}}, sum(settings.lengths),
          [](Exec const& exec, Work const& w, Arm const& a, results::Claim const&, run::Progress& progress) {
            return measure_attention(exec, w, a, progress);
          });
    if (settings.depths > 0)
      add(arm, "needle", {{"depths", settings.depths}}, sum(settings.lengths) * settings.depths,
          [](Exec const& exec, Work const& w, Arm const& a, results::Claim const&, run::Progress& progress) {
            return measure_needles(exec, w, a, progress);
          });
  }
  return out;
}

void carry_out(Exec const& exec, std::vector<Stage> const& stages, results::Store const& store, bool quiet) {
  double weight = 0;
  std::vector<Stage const*> open;
  for (auto const& stage : stages)
    if (!store.done(stage.id)) open.push_back(&stage), weight += stage.tokens;
  run::Progress progress(weight, quiet);
  for (auto const* const each : open) {
    auto const& stage = *each;
    bool const waits = !stage.needs.empty() && !store.done(stage.needs);
    auto const claim = waits || store.done(stage.id) ? std::nullopt : store.try_claim(stage.id);
    if (!claim) {  // another process is at it, or has done it since
      progress.skip(stage.tokens);
      continue;
    }
    progress.start(stage.what, stage.tokens);
    try {
      store.write(*claim, stage.work(exec, *claim, progress));
    } catch (run::Stopped const&) {
      throw;
    } catch (std::exception const& error) {
      store.fail(*claim, error.what());
      fail(stage.what, ": ", error.what());
    }
    progress.finish("done");
  }
}

std::vector<results::Run> runs_of(std::vector<Stage> const& stages, Work const& work) {
  std::vector<results::Run> out;
  for (auto const& arm : work.arms) {
    results::Run run{.encoding = work.subject.name, .scaling = arm.label};
    std::string ids;
    for (auto const& stage : stages)
      if (stage.arm == arm.label) run.stages.push_back(stage.id), ids += stage.id;
    run.id =
        plan::id_of(ids + arm.label);  // two names may stand for one position: a search may find a list that is there
    out.push_back(std::move(run));
  }
  return out;
}

}  // namespace sextant::extend
