// A study run again beside the first: its numbers by what they are of, since ids of stages change with plugins and versions.
#pragma once
#include <sextant/results/compare.hpp>

namespace sextant::results {

/// Every row of summary/results and every training curve of a study, an attribute each, named by arm, seed and measurement.
Group numbers_of(Group const& study);

/// Program, libraries, machine, plugins and inputs, an attribute each.
Group origin_of(Group const& study);

/// A copy with what tables, plots and verdicts read, small enough to commit: of training only the losses stay, of losses by
/// position those of the longest window, no log, and of places on the machine that ran their last part.
/// Says so in the attribute `summary_of`, the number of runs that the study has.
Group summarised(Group const& study);

}  // namespace sextant::results
