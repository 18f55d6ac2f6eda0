// How fast arms learn: how many steps one takes to the training loss that the baseline has after so many.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/table.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// Training loss averaged in bins of steps.
struct BinnedLoss {
  std::vector<double> step;  ///< centre of each bin, ascending
  std::vector<double> loss;
};

/// Bins of `width` steps from `first` on; values that are not finite are left out.
BinnedLoss binned(TrainCurve const& curve, double first, double width);

/// The falling sequence nearest to `values` in the sum of squares (pool adjacent violators).
std::vector<double> falling_fit(std::vector<double> const& values);

/// Where a falling curve first meets `loss`, linear between its points; nothing where it stays above.
std::optional<double> step_at(BinnedLoss const& falling, double loss);

/// Of an arm: what it takes to the baseline's loss after a share of the baseline's steps.
struct LearningCell {
  double baseline_steps = 0;    ///< mean over seeds
  double loss = 0;              ///< of the baseline then, mean over seeds
  int seeds = 0, never = 0;     ///< seeds of both; those in which the arm does not come so low
  std::optional<double> ratio;  ///< steps of the arm over steps of the baseline, geometric mean over the seeds that do
  std::optional<Interval> interval;  ///< Student's, of the logarithm
};
struct LearningRow {
  Arm arm;
  std::vector<LearningCell> cells;  ///< one a share
};
inline constexpr double learning_shares[] = {0.125, 0.25, 0.5, 1};

/// Rows of the arms that trained on the baseline's data in rows of its shape, itself left out; empty where it has no curve.
std::vector<LearningRow> learning_of(StudyView const& study, std::string const& baseline);

/// Empty rows where there is nothing to compare.
Table learning_table(StudyView const& study, std::string const& baseline);
/// Every number in full.
std::string learning_json(StudyView const& study, std::string const& baseline);

}  // namespace sextant::report
