// The table of measurements: summary/results in a study file, results/ in a stage's record.
#pragma once
#include <sextant/results/tree.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sextant::results {

/// One measurement.
struct ResultRow {
  std::string study, run;  ///< short name of the study; id under runs/
  std::int64_t seed = 0;
  std::string encoding, scaling = "none";
  std::string probe;            ///< name of the evaluation, e.g. lm_loss
  std::int64_t length = 0;      ///< tokens
  std::string region = "mean";  ///< part of the window: mean, tail64, ...
  std::string metric;           ///< e.g. loss
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();  ///< standard error within the run; column `stderr`
  std::int64_t n = 0;                                       ///< how many values the mean is over
  std::string units;                                        ///< of value and error

  bool operator==(ResultRow const&) const = default;
};

/// What people call an encoding under a scaling: "rope", "rope · yarn".
std::string arm_label(std::string const& encoding, std::string const& scaling);

using ResultTable = std::vector<ResultRow>;

/// One column a field, each of one value a row.
Group columns(ResultTable const& table);

/// Reads the columns back. Throws Error when one is missing, of another type or of another length.
ResultTable table(Group const& columns);

}  // namespace sextant::results
