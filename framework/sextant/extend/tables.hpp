// What `sextant extend` prints, from the rows of a study.
#pragma once
#include <sextant/report/table.hpp>
#include <sextant/results/tree.hpp>

namespace sextant::extend {

/// Loss by length; change of perplexity against the plain window and against the trained length; loss by position; passkeys;
/// attention. Tables without a number are left out. `study` is an assembled study file.
std::vector<report::Table> tables_of(results::Group const& study);

}  // namespace sextant::extend
