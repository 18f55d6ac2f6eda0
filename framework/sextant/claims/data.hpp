// What a study file holds for a test: values of each measured quantity under the seeds and windows that all share.
#pragma once
#include <sextant/claims/claim.hpp>
#include <sextant/results/tree.hpp>
#include <sextant/statistics/evidence.hpp>

namespace sextant::claims {

/// Values for a test, or why there are none.
struct Data {
  statistics::Panel panel;         ///< a quantity for each of Test::measured
  std::vector<std::string> units;  ///< of each
  std::vector<std::int64_t> seeds;
  std::string missing;  ///< empty when the panel can be used
};

/// `settled` is a test whose quantities name encoding and scaling. A value a window (or document); one a seed with paired_t
/// where seeds are the sample. A quantity that is not there, seeds or windows that are not shared, and values that are not finite are
/// said in `missing`.
Data data_of(Test const& settled, By by, Sample sample, results::Group const& study);

}  // namespace sextant::claims
