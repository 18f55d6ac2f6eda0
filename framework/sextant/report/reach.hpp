// How far an arm reads: up to which length its loss stays within an allowance of its own loss at the trained length.
#pragma once
#include <sextant/report/compare.hpp>
#include <sextant/report/table.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// Of one seed. `open`: the loss stayed within the allowance up to the longest length that was measured.
struct SeedReach {
  std::int64_t seed = 0;
  double length = 0;  ///< tokens
  bool open = false;
};

struct Reach {
  Arm arm;
  std::vector<SeedReach> seeds;
  /// Geometric mean over seeds, an open one counted as the longest length; at_least where one is open.
  double length = 0;
  bool at_least = false;
  /// Student's interval of the logarithm, back in tokens; of open seeds its lower end alone means something.
  std::optional<Interval> interval;
};

/// What the lengths are judged by: the tail of the window when it was kept (the same tokens at every length), else its mean;
/// nothing where no loss was measured at the trained length and beyond it.
std::optional<Quantity> reach_quantity(StudyView const& study);

/// Rises by length over the loss at the trained length, `excess[0]` = 0 at lengths[0]: the length where they first pass the
/// allowance, linear in the logarithm of the length between two that were measured. A rise that is not finite passes it at once.
SeedReach reach_of(std::vector<std::int64_t> const& lengths, std::vector<double> const& excess, double allowance);

inline constexpr double reach_allowance = 0.02;  ///< in the units of the loss

/// Arms in the order of arms_of(); those without a finite loss at the trained length are left out.
std::vector<Reach> reaches_of(StudyView const& study, double allowance = reach_allowance);

/// Empty rows where the study has no reach to show.
Table reach_table(StudyView const& study);
/// Every number in full.
std::string reach_json(StudyView const& study);

}  // namespace sextant::report
