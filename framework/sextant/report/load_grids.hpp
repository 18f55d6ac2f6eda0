// Reading the maps of a run: passkeys by length and depth, attention by length, layer and head.
#pragma once
#include <sextant/report/study.hpp>
#include <sextant/results/tree.hpp>

namespace sextant::report {

/// Fills `depths` and `heads` from the arrays of eval/<probe>/ that lie along those axes, in the order of the file.
void read_grids(RunView& out, results::Group const& run);

}  // namespace sextant::report
