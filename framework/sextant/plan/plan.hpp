// A spec made into stages: every run, seed, shape, byte and FLOP, settled before the first launch.
#pragma once
#include <sextant/plan/cost.hpp>
#include <sextant/spec/spec.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sextant::plan {

/// Raised whenever the same stage would compute other numbers than before: a fix in a kernel, another random stream.
inline constexpr int numerics_revision = 1;
/// What bf16 is called there; another name whenever it alone would give other numbers. 2: attention multiplies pairs of it.
inline constexpr char const* bf16_numerics = "bf16 2";

/// One model trained, or a trained one tuned, with one seed.
struct TrainStage {
  std::string id;         ///< 16 hex digits: hash of `canonical`
  std::string canonical;  ///< JSON of everything that determines the result, and nothing else
  std::string parent;     ///< id of the stage whose weights it goes on from; empty: fresh ones, or those of model.from
  std::int64_t batches_before = 0;  ///< that its parent has read of the same order
  bool recompute = false;           ///< forward passes run again for their backward, because memory is short: same bits
  std::string arm;                  ///< label, e.g. "rope+alibi"
  spec::Labels labels;
  std::int64_t seed = 0;
  std::int64_t order_seed = 0;  ///< of the batches: data.order.seed, or this run's seed
  spec::Model model;
  encoding::PositionChoice position;  ///< `factor: auto` settled for train.length
  spec::Data data;
  spec::Steps train;  ///< of training or of tuning
  Cost cost;
};

/// One trained model measured by one evaluation, at one length, under one view.
struct EvaluateStage {
  std::string id, canonical;
  std::string train_id;  ///< the stage whose weights it measures
  std::string arm, view;
  spec::Labels labels;  ///< of the arm and of the view
  std::int64_t seed = 0;
  int length = 0;  ///< tokens, or what a length of the task counts
  int row = 0;     ///< tokens of a row: length, or as many as an example of that length takes at most
  int span = 0;    ///< longest length of the evaluation: where its windows lie
  int rows = 0;    ///< windows in one forward pass
  spec::Evaluation evaluation;
  spec::Model model;
  spec::Data data;
  encoding::PositionChoice position;  ///< `factor: auto` settled for the tokens seen
  bool repeats = false;               ///< its id stands earlier: one record for two views that coincide here
  Cost cost;
  /// Tokens that the model sees at once: row, or the evaluation's context if that is shorter.
  int seen() const { return evaluation.context && *evaluation.context < row ? *evaluation.context : row; }
};

struct Plan {
  std::string study, title, file;
  spec::Budget budget;
  spec::Places places;  ///< where the keys of the spec stand, for messages
  Machine machine;
  std::vector<TrainStage> train;        ///< ids are distinct; parents stand before those that go on from them
  std::vector<EvaluateStage> evaluate;  ///< those of one train stage are neighbours, and so are those of one view
  std::vector<std::string> notes;       ///< what a reader should know: merged stages, lints
  Cost total;                           ///< parameters and bytes: the largest; FLOP and seconds: the sum
};

struct CorpusFacts {
  std::string sha256;  ///< of the text, and of its documents where they decide tokens or cut; of a task's files
  std::int64_t train = 0, test = 0;  ///< tokens
  std::string tokenizer_sha256;      ///< empty: tokens are bytes
  int vocabulary = 256;
  /// Tokens of a task's row of this length; throws Error where it has none. Empty: a text, whose length is in tokens.
  std::function<int(int length)> row_length;
  int longest = 0;  ///< length of the task's longest training example
  /// One past the largest position of a row of this length, of a task that says where tokens stand. Empty: token n stands at n.
  std::function<int(int length)> reach;
};

/// What a plan needs to know and a spec does not say.
struct World {
  std::function<CorpusFacts(spec::Data const&)> corpus;
  /// sha256 of the file that brings the plugin.
  std::function<std::string(encoding::Role, std::string const& name)> plugin_sha256;
  /// Throws Error where these encodings and scalings cannot serve this model at `target_length` tokens.
  std::function<PositionFacts(spec::Model const&, encoding::PositionChoice const&, int target_length)> position;
  Machine machine;
};

/// Every scaling's `factor: auto` becomes what `seen` tokens need: seen / trained length, at least 1.
encoding::PositionChoice settle(encoding::PositionChoice position, int seen);

/// A World whose plugin facts come from the registry; hashes are computed once per file.
World world_of(encoding::Registry const& registry, std::function<CorpusFacts(spec::Data const&)> corpus,
               Machine const& machine);

/// Throws Error for what cannot run, with the place in the spec: encodings that do not fit the model, windows longer than
/// the text, lengths past a learned table.
Plan make_plan(spec::Spec const& spec, World const& world);

/// True when the record of a stage exists.
using Done = std::function<bool(std::string const& id)>;

/// Throws Error when what is still to do needs more memory than budget.memory or the machine has, or more time than
/// budget.wall, with the numbers.
void expect_fits(Plan const& plan, Done const& done);

/// The tree that `sextant plan` prints.
std::string plan_text(Plan const& plan, Done const& done);
/// The same as JSON text.
std::string plan_json(Plan const& plan, Done const& done);

}  // namespace sextant::plan
