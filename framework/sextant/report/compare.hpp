// Arms side by side: the numbers behind every comparison table, before anything is formatted.
#pragma once
#include <sextant/report/study.hpp>
#include <sextant/statistics/sample.hpp>

#include <span>
#include <string>
#include <vector>

namespace sextant::report {

using statistics::Interval, statistics::Method, statistics::Paired, statistics::Summary;

/// Which arms become rows, and what each is compared with when a baseline is wanted.
enum class By {
  arm,       ///< every encoding under every scaling; the named baseline
  encoding,  ///< encodings as trained, without scaling; the named baseline
  scaling,   ///< encodings that were also scaled; the same encoding unscaled
};
By by_from(std::string const& name);  ///< "arm", "encoding", "scaling"; throws Error naming these

struct CompareOptions {
  By by = By::arm;
  std::string baseline;               ///< label of an arm; "" for none (By::scaling needs none)
  std::string probe, region, metric;  ///< "" each: as main_quantity of the first study
  double confidence = 0.95;
  Method method = Method::student_t;
};

/// Every arm on that quantity, without a baseline.
CompareOptions options_of(Quantity const& quantity);

enum class Mark { none, best, tied };

/// One arm at one length.
struct Cell {
  std::vector<std::int64_t> seeds;  ///< ascending
  std::vector<double> values;       ///< one a seed; NaN where the run gave none
  Summary summary;
  bool complete = false;  ///< every seed of the study is there and finite; only such a cell can be marked
  Mark mark = Mark::none;
  Paired versus;                     ///< against the baseline over the seeds that both have
  std::optional<double> p_adjusted;  ///< Holm over all p-values of the comparison
};

/// What the cell has of a seed; nothing where it lacks it.
std::optional<double> value_of(Cell const& cell, std::int64_t seed);

/// a minus b, over the seeds that both have.
Paired paired_cells(Cell const& a, Cell const& b, double confidence = 0.95, Method method = Method::student_t);

struct ComparisonRow {
  std::string label;  ///< arm, preceded by its study when there are several
  Arm arm;
  std::size_t study = 0;   ///< which of the given studies
  std::string asked;       ///< as RunView has it
  std::size_t rivals = 0;  ///< index in Comparison::rivals
  std::string own;         ///< its encoding's label less what all its rivals are asked, "rope" of "rope / sort"
  bool is_baseline = false;
  std::string baseline;             ///< label of what this row is compared with; "" for nothing
  std::vector<std::string> failed;  ///< messages of this arm's failed runs
  std::vector<Cell> cells;          ///< one a length
};

/// Rows that were asked the same, and are ranked against each other. Those of which it is not known are rivals of their own, or of
/// all where no more than one question is known.
struct Rivals {
  std::string name;               ///< what their labels share, "sort" of "nope / sort"; empty where all rows are rivals
  std::vector<std::size_t> rows;  ///< ascending
};

/// Best of a column: the best mean among complete cells of rivals, where two of them were measured. Tied: complete cells whose
/// paired difference to the best, over the seeds that both have, has an interval that holds zero.
struct Comparison {
  Quantity quantity;
  std::string units;
  bool lower_is_better = true;
  double confidence = 0.95;
  Method method = Method::student_t;
  std::vector<std::int64_t> lengths;
  std::optional<std::int64_t> trained_length;
  std::vector<std::int64_t> seeds;
  std::vector<std::string> studies;
  std::vector<ComparisonRow> rows;
  std::vector<Rivals> rivals;  ///< every row once, in the order in which each group begins
  int tests = 0;               ///< p-values in Holm's family

  /// Index of a length; nothing where it is none of them.
  std::optional<std::size_t> column_of(std::int64_t length) const;
};

/// Throws Error when the quantity or baseline is not there (naming the nearest), when one arm holds two values for one
/// seed and length, or when studies to be shown in one table state different units.
Comparison compare(std::span<StudyView const> studies, CompareOptions const& options = {});
Comparison compare(StudyView const& study, CompareOptions const& options = {});

/// Of positive numbers over seeds: geometric mean, and Student's interval of the logarithm taken back. Empty as in Summary.
struct GeometricMean {
  std::optional<double> mean;
  std::optional<Interval> interval;
};
GeometricMean geometric_mean(std::span<double const> values);

/// What the report page compares with: the study's own choice when that arm is there, else rope, else the first arm.
std::string default_baseline(StudyView const& study);

}  // namespace sextant::report
