// What happens to a trained model when its context is stretched, with or without more training: loss by length and by position,
// a plain window of the trained length beside it, passkeys by depth, and what attention looks like. Every measurement is a stage of a
// study folder (results/store.hpp), so that a run goes on where it was stopped.
//
// Lengths are prefixes of a document: the model is causal, so one pass over the longest serves all of them, unless the
// scaling follows the length of the sequence. Losses at a length L are over the `tail` tokens before it, the same tokens
// under every arm: arms are compared pairwise, document by document.
#pragma once
#include <sextant/encoding/registry.hpp>
#include <sextant/pretrained/description.hpp>
#include <sextant/results/store.hpp>
#include <sextant/results/study.hpp>
#include <sextant/run/progress.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/tokens/vocabulary.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::plan {
struct World;
}

namespace sextant::extend {

/// A trained model and the text that it reads.
struct Subject {
  std::string name;    ///< what tables call it
  std::string sha256;  ///< of its file
  std::shared_ptr<run::Network> network;
  encoding::PositionChoice position;                                  ///< as trained; trained_length is set
  std::function<std::vector<std::int32_t>(std::string_view)> encode;  ///< text to tokens, without any at the ends
  std::optional<std::int32_t> bos;           ///< begins every text, where the model was trained so
  pretrained::Description description = {};  ///< for the weights that tuning leaves
  std::optional<tokens::Vocabulary> vocabulary = std::nullopt;
};

/// Its tokens begin with the subject's bos, if there is one.
struct Document {
  std::string name, sha256;
  std::vector<std::int32_t> tokens;
};

/// The model under one list of scalings, options settled (no factor is auto).
struct Arm {
  std::string label;
  encoding::PositionChoice position;
  bool follows_length = false;  ///< frequencies depend on the length of the sequence: one pass a length
  std::string weights = "";     ///< id of the stage that tunes it; empty: the model's own
};

/// More training at another length. Rows are pieces of the documents, drawn uniformly; none reaches over an end.
struct Tuning {
  int steps = 0;
  int length = 0;  ///< tokens a row
  int rows = 1;    ///< a step
  double rate = 2e-5;
  int warmup = 20;  ///< steps of linear rise; then the rate stays
  std::optional<int> save_every;
  std::int64_t seed = 0;            ///< of the rows
  std::vector<Document> documents;  ///< none of those that are measured
  /// Throws Error naming what is out of range.
  void check(Subject const& subject) const;
};

struct Settings {
  std::vector<int> lengths;  ///< rising, in tokens
  int tail = 512;            ///< tokens before a length that its loss is over
  int depths = 0;            ///< passkeys at so many depths at every length; 0: none
  int rows = 16;             ///< query rows that attention is looked at in, at every length; 0: none
  int longest() const { return lengths.back(); }
  /// Throws Error naming what does not fit the documents, the model or one another.
  void check(Subject const& subject, std::vector<Document> const& documents) const;
};

/// The arms of a study: first `none`, the model as it was trained, then a list of scalings each, whose `factor: auto` becomes
/// longest / trained length for all lengths, as a deployed model has one factor. With `tuning` every list is there a second
/// time, tuned, and an empty list is the model tuned as it is. Throws Error where a scaling does not fit the model, two arms
/// have the same label, or no document has a row to train on.
std::vector<Arm> make_arms(Subject const& subject, std::vector<std::vector<encoding::Choice>> const& scalings,
                           Settings const& settings, encoding::Registry const& registry,
                           Tuning const* tuning = nullptr);

/// Tuned weights, the last that were asked for.
struct Loaded {
  std::string id;
  std::shared_ptr<run::Network> network;
};

struct Work {
  Subject const& subject;
  std::vector<Document> const& documents;
  std::vector<Arm> const& arms;
  Settings const& settings;
  encoding::Registry const& registry;
  Tuning const* tuning = nullptr;
  results::Store const* store = nullptr;  ///< where tuned weights lie; not nullptr with tuning
  std::shared_ptr<Loaded> loaded = std::make_shared<Loaded>();
};

/// One measurement of one arm, or its tuning.
struct Stage {
  std::string id;    ///< hash of all that determines it
  std::string what;  ///< for people: "yarn x2  lm_loss"
  std::string arm;
  double tokens = 0;  ///< that the model will read: its share of the work
  std::string needs;  ///< id of a stage that must be done before; empty: none
  std::function<results::Group(Exec const&, results::Claim const&, run::Progress&)> work;
};
std::vector<Stage> stages_of(Work const& work);

/// The hash of all that determines a measurement of an arm: model, documents, lengths, position block, plugins, and what
/// `probe` and `how` (JSON) say of the measurement itself. `world` knows the plugins' files by their hash, and keeps it.
std::string identity(Work const& work, plan::World const& world, Arm const& arm, std::string const& probe,
                     std::string const& how);

/// Carries out what is not done yet. Throws run::Stopped after a signal, with all that is done kept, and Error for a stage
/// that fails.
void carry_out(Exec const& exec, std::vector<Stage> const& stages, results::Store const& store, bool quiet);

/// The runs of a study, one an arm.
std::vector<results::Run> runs_of(std::vector<Stage> const& stages, Work const& work);

}  // namespace sextant::extend
