// One position as coordinates on a grid, counted in raster order: the first coordinate runs fastest.
#pragma once
#include <sextant/plugin.hpp>

#include <cmath>

namespace sextant::plugins {

/// Throws Error unless `grid` is empty or has `entries` whole extents.
inline void expect_grid(char const* name, encoding::Numbers const& grid, int entries) {
  expect(grid.count == 0 || grid.count == entries, name, ".grid has ", grid.count, " entries, expected ", entries,
         ", or none for positions that come as coordinates");
  for (int n = 0; n < grid.count; ++n)
    expect(grid[n] == std::floor(grid[n]) && grid[n] >= 1, name, ".grid entry ", n + 1, " is ", grid[n],
           ", expected a whole number of at least 1");
}

/// out[axes]; the last coordinate runs on without end.
inline void raster(char const* name, encoding::Numbers const& grid, double position, int axes, double* out) {
  expect(grid.count > 0, name, " reads ", axes, " coordinates of a position, and this one is the single number ",
         position, "; say with ", name, ".grid how long a row is, or give coordinates");
  expect(position >= 0 && position == std::floor(position), name, ": position ", position,
         " is not on the grid, expected a whole number of at least 0");
  for (int a = 0; a + 1 < axes; ++a) {
    out[a] = std::fmod(position, grid[a]);
    position = std::floor(position / grid[a]);
  }
  out[axes - 1] = position;
}

}  // namespace sextant::plugins
