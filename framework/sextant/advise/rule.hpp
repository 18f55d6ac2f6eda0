// What is known about reaching past a trained length, as data: a rule holds under conditions, recommends or warns, and cites
// what it rests on. No number stands here that its source does not state.
#pragma once
#include <string>
#include <vector>

namespace sextant::advise {

enum class Task { any, lm, retrieval, stream, algorithmic };
char const* name_of(Task task);
/// Throws Error with the nearest name.
Task task_of(std::string const& name);

enum class Verdict {
  recommend,  ///< reaches the target
  caution,    ///< true whatever is chosen
  avoid
};

struct Rule {
  char const* id;
  Verdict verdict;
  /// Holds for target / trained length in (above, up_to], shares of the training tokens in [least, most], the tasks listed
  /// (none: all), models that are trained (or yet to be trained).
  double above = 0, up_to = 1e18;
  double least_budget = 0, most_budget = 1;
  std::vector<Task> tasks = {};
  bool from_scratch = false;
  char const* what = "";      ///< the recommendation, in words
  char const* position = "";  ///< what a spec says, {factor} standing for the factor; empty: nothing to say there
  char const* reason = "";
  char const* citation = "";  ///< arXiv id with the part of the paper, or a stored study of ours

  bool holds(double factor, double budget, Task task, bool scratch) const;
};

/// In order of preference: of those that recommend and hold, the first is the recommendation, the others alternatives.
std::vector<Rule> const& rules();

}  // namespace sextant::advise
