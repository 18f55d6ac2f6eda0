// Assembles study.h5 from the records of stages. docs/results.md describes the file.
//
// A stage's record is a Group that holds what belongs into its run, under the names it has there (config/, train/,
// eval/<probe>/, analysis/, memory/, log/), and the measurements as results/ (table.hpp). Attributes of the record
// itself (seconds, started ...) stay in the record.
#pragma once
#include <sextant/results/provenance.hpp>
#include <sextant/results/store.hpp>
#include <sextant/results/table.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sextant::results {

inline constexpr char const* study_schema = "sextant-results/1";

/// One entry of runs/: a trained model, or one seen under another scaling.
struct Run {
  std::string id;
  std::int64_t seed = 0;
  std::string encoding, scaling = "none";
  std::map<std::string, std::string> labels;  ///< varied key -> value taken
  std::vector<std::string> parents;           ///< runs whose weights it uses
  std::vector<std::string> stages;            ///< ids of its stages, in the order in which their arrays are joined
};

/// What a curve of summary/curves is about.
struct Quantity {
  std::string probe, region, metric;
  bool operator==(Quantity const&) const = default;
};

struct Study {
  std::string name, title;
  std::string creator_version;
  std::string source, resolved;  ///< the spec as given, and with every default filled in
  Provenance provenance;
  std::vector<Run> runs;           ///< in the order of the plan
  std::optional<Quantity> curves;  ///< empty: that of the first row
  std::optional<Group> claims;     ///< columns, when claims were tested
};

/// The study file as a tree, from the records that exist now: stages that are not done are missing from it, and their
/// runs say so in status and message. Equal records and equal studies give equal numbers in equal order.
Group assemble(Study const& study, Store const& store);

/// Adds `more` to `into`. An array that both have grows along its first dimension when that dimension is named by an
/// axis (the axis grows with it); anything else that both have must be equal. Throws Error when it is not.
void append(Group& into, Group const& more);

/// Mean over seeds and 95 % interval (Student's t; NaN for one seed) of a quantity, by length, a line an arm.
Group curves(ResultTable const& table, Quantity const& quantity);

}  // namespace sextant::results
