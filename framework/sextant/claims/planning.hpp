// How many seeds a claim needs, from the scatter that a study shows.
#pragma once
#include <sextant/claims/claim.hpp>
#include <sextant/results/tree.hpp>
#include <sextant/statistics/power.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::claims {

struct SeedPlan {
  std::string id;
  std::optional<double> effect;  ///< that the study found, of the relation that needs most seeds
  std::string units;
  statistics::Spread spread;
  std::optional<int> seeds;  ///< for the whole claim; empty: see reason
  std::string reason;
  double power = 0.8;   ///< chance of showing the claim if it is true
  double level = 0.05;  ///< of its test: the strictest step of Holm's correction
};

/// One plan a claim. Where sides must be apart, the truth is taken to be what the study found; where they must be near,
/// that they do not differ. Windows are taken to stay as many as the study has.
std::vector<SeedPlan> plan_seeds(Claims const& claims, results::Group const& study, double power = 0.8);

}  // namespace sextant::claims
