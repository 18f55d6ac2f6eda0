// What the report knows of a study, in plain structs: filled from a results file by load_study, or by a test.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/claims/claim.hpp>
#include <sextant/claims/published.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sextant::report {

/// One row of summary/results. A value that is missing or diverged is NaN or infinite here.
struct ResultRow {
  std::string run;
  std::int64_t seed = 0;
  std::string encoding, scaling;  ///< scaling is "none" for an encoding used as trained
  std::string probe;              ///< e.g. lm_loss
  std::int64_t length = 0;        ///< tokens the model saw
  std::string region;             ///< part of the window, e.g. mean or tail64
  std::string metric;             ///< e.g. loss
  double value = 0;
  double error = 0;  ///< standard error within the run (over windows); NaN when not known
  std::int64_t n = 0;
  std::string units;  ///< e.g. nat/byte
};

/// What a run wrote while training; columns share one length, or are empty when not recorded.
struct TrainCurve {
  std::vector<double> step, token, wall, loss, rate, gradient_norm, speed;
  std::string loss_units = "nat/token";
};

/// Mean loss at each position 0 .. length-1 of the window.
struct PositionCurve {
  std::string probe;
  std::int64_t length = 0;
  std::vector<double> loss;
  std::string units = "nat/token";
};

/// A measure of answers by length and by where in the text they are told.
struct DepthGrid {
  std::string probe, measure, units;
  std::vector<std::int64_t> length;
  std::vector<double> depth;  ///< share of the text before it
  std::vector<double> value;  ///< [length, depth]; NaN where nothing was measured
};

/// A measure of attention, head by head.
struct HeadGrid {
  std::string probe, measure, units;
  std::vector<std::int64_t> length;
  std::size_t layers = 0, heads = 0;
  std::vector<double> value;  ///< [length, layer, head]
};

/// One method of a search over scalings of an encoding: what its evaluations found, and what its best one is.
struct SearchCourse {
  std::string encoding, method;
  std::vector<double> best;     ///< lowest objective after 1, 2, ... evaluations
  std::vector<double> factors;  ///< divisor of each pair's frequency under the best
  std::string units, objective;
};

using Facts = std::vector<std::pair<std::string, std::string>>;

struct RunView {
  std::string id;
  std::string status;   ///< planned | running | done | failed
  std::string message;  ///< why it failed
  std::int64_t seed = 0;
  std::string encoding, scaling;
  std::vector<std::string> parents;
  Facts config;
  std::string lessons;  ///< what it was trained on, and in what rows: equal texts, equal lessons; empty when not known
  std::string asked;    ///< the task or the text that it answers, at whatever lengths; empty when not known
  TrainCurve train;
  std::vector<PositionCurve> positions;
  std::vector<DepthGrid> depths;
  std::vector<HeadGrid> heads;
};

struct Plugin {
  std::string name, version, origin, sha256, source;  ///< source: the paper it states
};
struct Library {
  std::string name, version;
};
struct Input {
  std::string name, kind, sha256, licence;
  std::int64_t bytes = 0;
};

struct StudyView {
  std::string file;      ///< where it was read from, for messages and file names
  std::string name;      ///< the study's short name
  std::string title;     ///< falls back to the name
  std::string question;  ///< what the study asks, in a sentence or two; may be empty
  std::string tier;      ///< smoke, small or article; may be empty
  std::string baseline;  ///< label of the arm that others are compared with; empty: default_baseline chooses
  std::string created;   ///< ISO 8601
  std::string creator;   ///< program and version
  std::optional<std::int64_t> trained_length;  ///< tokens; empty when the arms differ or the file does not say
  std::vector<ResultRow> rows;
  std::vector<RunView> runs;
  std::vector<SearchCourse> search;  ///< empty where the study is no search
  Facts facts;                       ///< provenance attributes: commit, compiler, device ...
  std::vector<Library> libraries;
  std::vector<Plugin> plugins;
  std::vector<Input> inputs;
  std::vector<std::string> sources;  ///< citations that the spec gives
  std::string spec_source, spec_resolved, diff;
  std::optional<claims::Judgement> claims;        ///< as the file holds them
  std::vector<claims::PublishedTable> published;  ///< numbers of others that the spec keeps beside its own
  std::vector<std::string> controls;  ///< probes that repeat another with its context cut: what a plain window reaches

  bool is_control(std::string const& probe) const;
};

/// What is compared: an encoding under a scaling. `label` is what people read: "rope", "rope · yarn".
struct Arm {
  std::string encoding, scaling;
  std::string label() const { return scaled() ? encoding + " · " + scaling : encoding; }
  bool scaled() const { return !scaling.empty() && scaling != "none"; }
  bool operator==(Arm const& other) const { return label() == other.label(); }
};

/// Its title, or its name where it has none.
std::string const& title_of(StudyView const& study);

/// Every arm with a run or a row, in the order of the runs (the plan's), an encoding's scaled arms right after it.
std::vector<Arm> arms_of(StudyView const& study);

/// Runs of the arm, in the order of the plan.
std::vector<RunView const*> runs_of(StudyView const& study, Arm const& arm);

/// The quantity a table or plot is about.
struct Quantity {
  std::string probe, region, metric;
  bool operator==(Quantity const&) const = default;
};

/// Every quantity of the study, in order of first appearance.
std::vector<Quantity> quantities_of(StudyView const& study);

/// The one a reader wants first: loss of the first probe that is not a control, region "mean" when there is one.
/// Throws Error when the study has no rows.
Quantity main_quantity(StudyView const& study);

/// True when a smaller value is better: losses, perplexities, errors, entropies, times; false for accuracy and the like.
bool lower_is_better(std::string const& metric);

/// Lengths of the rows that match, ascending.
std::vector<std::int64_t> lengths_of(StudyView const& study, Quantity const& quantity);

/// Seeds of the study, ascending.
std::vector<std::int64_t> seeds_of(StudyView const& study);

/// Units of the first row that matches; "" when none says.
std::string units_of(StudyView const& study, Quantity const& quantity);

}  // namespace sextant::report
