#include <sextant/base/error.hpp>
#include <sextant/tasks/positions.hpp>

namespace sextant::tasks {

void draw_positions(Stream const& stream, std::uint64_t row, int count, int below, double* out) {
  expect(count <= below, "cannot draw ", count, " distinct positions of ", below);
  // Selection sampling (Knuth, algorithm S): each number is taken with the probability that leaves enough for the rest.
  for (int at = 0, taken = 0; taken < count; ++at)
    if (stream.uniform(static_cast<std::uint64_t>(at), row) * (below - at) < count - taken) out[taken++] = at;
}

void draw_skip(Stream const& stream, std::uint64_t row, int count, int below, double* out) {
  expect(count <= below, "cannot draw ", count, " distinct positions of ", below);
  std::int64_t const first = 1 + stream.below((count + 1) / 2, 0, row), gap = stream.below(below - count + 1, 1, row);
  for (int i = 0; i < count; ++i) out[i] = static_cast<double>(i + (i < first ? 0 : gap));
}

}  // namespace sextant::tasks
