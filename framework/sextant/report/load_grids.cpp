#include <sextant/report/load_grids.hpp>

#include <algorithm>

namespace sextant::report {
namespace {
using Axes = std::vector<std::string>;

// "exact_by_depth" measures exact.
std::string measure_of(std::string const& name, std::string const& ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

// [rows, columns] -> [columns, rows]
std::vector<double> turned(std::vector<double> const& value, std::size_t rows) {
  std::size_t const columns = value.size() / std::max<std::size_t>(1, rows);
  std::vector<double> out(value.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = value[r * columns + c];
  return out;
}
}  // namespace

void read_grids(RunView& out, results::Group const& run) {
  results::Group const* const eval = run.find_group("eval");
  if (!eval) return;
  for (auto const& [probe, group] : eval->groups)
    for (auto const& [name, array] : group.arrays) {
      bool const by_length = array.axes == Axes{"length", "depth"}, by_depth = array.axes == Axes{"depth", "length"};
      if (by_length || by_depth) {
        DepthGrid grid{probe,
                       measure_of(name, "_by_depth"),
                       array.units,
                       group.integers("length"),
                       group.numbers("depth"),
                       group.numbers(name)};
        if (by_depth) grid.value = turned(grid.value, grid.depth.size());
        out.depths.push_back(std::move(grid));
      } else if (array.axes == Axes{"length", "layer", "head"}) {
        out.heads.push_back({probe, measure_of(name, "_by_head"), array.units, group.integers("length"), array.shape[1],
                             array.shape[2], group.numbers(name)});
      }
    }
}

}  // namespace sextant::report
