// Positions that are not the index of the token: drawn anew for every row.
#pragma once
#include <sextant/base/philox.hpp>

namespace sextant::tasks {

/// `count` distinct whole numbers of [0, below), ascending, every subset equally likely; row `row` of `stream`, whatever
/// was drawn before. Needs count <= below. Source: Ruoss et al., arXiv:2305.16843, section 3.1.
void draw_positions(Stream const& stream, std::uint64_t row, int count, int below, double* out);

}  // namespace sextant::tasks
