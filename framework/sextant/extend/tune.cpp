#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/extend/tune.hpp>
#include <sextant/plan/identity.hpp>
#include <sextant/plan/recompute.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/run/start.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::extend {
namespace {
using nlohmann::json;

/// Pieces of length + 1 tokens in a document.
std::int64_t pieces(Document const& document, int length) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(document.tokens.size()) - length);
}

/// As Chen et al. (arXiv:2306.15595) and Peng et al. (arXiv:2309.00071) tune: AdamW without decay, a short linear rise, then a
/// constant rate. One row at a time, so that memory does not grow with the rows of a step.
model::TrainConfig config_of(Work const& work) {
  Tuning const& t = *work.tuning;
  model::TrainConfig c;
  c.schedule = {.rate = t.rate, .warmup = std::min(t.warmup, t.steps), .steps = t.steps, .floor = 1};
  c.decay = 0;
  c.pass.tokens_at_once = t.length;
  plan::Cost const kept = plan::train_cost(run::model_of(work.subject.network->config()),
                                           {.steps = t.steps, .length = t.length, .rows = 1}, {}, {});
  c.pass.recompute = plan::should_recompute(kept, plan::available_memory());
  return c;
}

/// The model as it is tuned: the scalings are its own now, and it takes the length that it was tuned at.
nlohmann::ordered_json note_of(Work const& work, Arm const& arm) {
  pretrained::Description d = work.subject.description;
  d.config = work.subject.network->config();
  d.position = run::with_original_length(arm.position);
  d.context_length = work.tuning->length;
  d.naming = pretrained::Naming::sextant;
  d.rows = pretrained::RowOrder::halves;
  d.gains_less_one = false;
  d.name = work.subject.name + ", " + arm.label;
  return pretrained::note_of(d, work.subject.vocabulary);
}

results::Group tune(Exec const& exec, Work const& work, Arm const& arm, results::Claim const& claim,
                    run::Progress& progress) {
  Tuning const& t = *work.tuning;
  run::Network network(work.subject.network->config(), position_of(work, arm, t.length), 0, model::Start::zero);
  Kokkos::deep_copy(network.parameters(), work.subject.network->parameters());
  double const tokens = static_cast<double>(t.rows) * t.length;
  run::Optimisation const steps{.id = arm.weights,
                                .name = arm.label,
                                .config = config_of(work),
                                .steps = t.steps,
                                .save_every = t.save_every,
                                .tokens_a_step = tokens,
                                .batch = [&](std::int64_t step) {
                                  auto batch = model::next_token_batch(exec, draw_rows(t, step));
                                  run::draw_batch_positions(network, t.seed, step, batch);
                                  return batch;
                                }};
  auto const curve = run::optimise(exec, steps, network, note_of(work, arm), claim, progress);
  results::Group record;
  record.set("kind", "tune");
  record["config"]
      .set("tune.length", t.length)
      .set("tune.steps", t.steps)
      .set("tune.rows", t.rows)
      .set("tune.rate", t.rate);
  run::put_curve(record["train"], curve, tokens);
  return record;
}
}  // namespace

void Tuning::check(Subject const& subject) const {
  expect(steps >= 1 && length >= 2 && rows >= 1, "tuning takes ", steps, " steps of ", rows, " rows of ", length,
         " tokens, expected at least 1, 1 and 2");
  expect(rate > 0, "tuning: the rate is ", rate, ", expected a number > 0");
  expect(warmup >= 0, "tuning: the rate rises over ", warmup, " steps, expected at least 0");
  std::size_t longest = 0;
  bool any = false;
  for (auto const& document : documents) {
    longest = std::max(longest, document.tokens.size());
    any = any || pieces(document, length) > 0;
  }
  expect(any, subject.name, " is to be tuned on rows of ", length + 1, " tokens, and the longest of ", documents.size(),
         " documents to train on has ", longest, "; expected longer ones, or a shorter length");
}

std::string tuning_id(Subject const& subject, Arm const& arm, Tuning const& t, plan::World const& world) {
  json texts = json::array();
  for (auto const& document : t.documents) texts.push_back(document.sha256);
  json all = {{"stage", "tune"},
              {"numerics", plan::numerics_revision},
              {"model", subject.sha256},
              {"documents", texts},
              {"position", json::parse(plan::canonical_position(arm.position, world))},
              {"steps", t.steps},
              {"length", t.length},
              {"rows", t.rows},
              {"rate", t.rate},
              {"warmup", t.warmup},
              {"seed", t.seed}};
  if (subject.network->config().precision == model::Precision::bf16) all["precision"] = plan::bf16_numerics;
  return plan::id_of(all.dump());
}

View2<int> draw_rows(Tuning const& t, std::int64_t step) {
  std::int64_t all = 0;
  for (auto const& document : t.documents) all += pieces(document, t.length);
  View2<int> const out("tuning rows", t.rows, t.length + 1);
  Stream const stream(static_cast<std::uint64_t>(t.seed), "extend/tune");
  for (int row = 0; row < t.rows; ++row) {
    std::int64_t at = stream.below(all, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(step));
    auto document = t.documents.begin();
    for (; at >= pieces(*document, t.length); ++document) at -= pieces(*document, t.length);
    std::copy_n(document->tokens.begin() + at, t.length + 1, &out(row, 0));
  }
  return out;
}

Stage tuning_stage(Work const& work, Arm const& arm) {
  Tuning const& t = *work.tuning;
  double const tokens = 3.0 * t.steps * t.rows * t.length;  // a backward costs two forwards
  return {arm.weights,
          arm.label + "  tuning",
          arm.label,
          tokens,
          "",
          [&work, &arm](Exec const& exec, results::Claim const& claim, run::Progress& progress) {
            return tune(exec, work, arm, claim, progress);
          }};
}

fs::path weights_file(results::Store const& store, Arm const& arm) { return run::weights_file(store, arm.weights); }

std::shared_ptr<run::Network> weights_of(Work const& work, Arm const& arm) {
  if (arm.weights.empty()) return work.subject.network;
  if (work.loaded->id != arm.weights) {
    work.loaded->network.reset();  // before the next takes its memory
    auto const network = std::make_shared<run::Network>(
        work.subject.network->config(), position_of(work, arm, work.settings.longest()), 0, model::Start::zero);
    model::load_parameters(weights_file(*work.store, arm), *network);
    *work.loaded = {arm.weights, network};
  }
  return work.loaded->network;
}

}  // namespace sextant::extend
