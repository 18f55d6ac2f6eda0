// What `sextant search` prints of the search itself; extend/tables.hpp has what winners do on other documents.
#pragma once
#include <sextant/report/table.hpp>
#include <sextant/results/tree.hpp>

namespace sextant::search {

/// Best objective by method with what it took; the published lists under the same objective; winning factors by pair. `study`
/// is an assembled study file with the group `search`.
std::vector<report::Table> tables_of(results::Group const& study);

}  // namespace sextant::search
