// Three ways to spend a budget of evaluations: evolution, random draws, and the parameters of YaRN. Each is a sequence that its
// seed and the objective's values determine, whatever else happens: a search that is carried out again, with what was
// evaluated at hand, takes the same way.
#pragma once
#include <sextant/search/genome.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sextant::search {

/// A published list that searches begin at: "linear", "ntk" or "yarn".
struct Start {
  std::string name;
  Genome genome;
};

struct Settings {
  int budget = 64;      ///< evaluations of each method
  int population = 16;  ///< of the first generation: the starts, and mutations of them
  int parents = 8;      ///< the best so far, of which a generation is bred
  int mutations = 4;    ///< of a generation
  int crossovers = 4;   ///< of a generation
  double chance = 0.3;  ///< that a gene mutates
  int tries = 20;       ///< passes of a crossover before a mutation takes its place
  std::uint64_t seed = 1;
  /// Throws Error beginning with "search" for numbers that do not go together.
  void check(std::size_t starts) const;
};

/// YaRN's parameters.
struct YarnPoint {
  double factor, beta_fast, beta_slow;
  auto operator<=>(YarnPoint const&) const = default;
};

template <class Point>
struct Trial {
  Point point;
  std::string origin;  ///< a start's name, mutation, crossover or draw
  int generation = 0;
  double objective = 0;  ///< lower is better
};

template <class Point>
struct Trace {
  std::vector<Trial<Point>> trials;  ///< in the order in which they are evaluated
  /// The first of the lowest; what is not finite loses.
  Trial<Point> const& best() const;
  /// The lowest so far after each evaluation.
  std::vector<double> best_so_far() const;
};

/// Values of several points that do not depend on one another, in their order.
template <class Point>
using Objective = std::function<std::vector<double>(std::vector<Trial<Point>> const&)>;

/// Algorithm 1 of the paper: the starts and mutations of them; then, generation by generation, mutations of and crossovers
/// between the best. Exactly `budget` points, no two alike.
Trace<Genome> evolve(Space const& space, std::vector<Start> const& starts, Settings const& settings,
                     Objective<Genome> const& objective);

/// The starts, then draws of the whole space. Exactly `budget` points, no two alike.
Trace<Genome> draw_at_random(Space const& space, std::vector<Start> const& starts, Settings const& settings,
                             Objective<Genome> const& objective);

/// YaRN as `released`, then with other parameters: beta_fast log-uniform from 4 to 128, beta_slow from 1/4 to 4, the factor
/// within a factor of sqrt(2) of the released one, at least 1. Exactly `budget` points, no two alike.
Trace<YarnPoint> tune_yarn(YarnPoint const& released, Settings const& settings, Objective<YarnPoint> const& objective);

}  // namespace sextant::search
