// Positions that are not the index of the token: drawn anew for every row.
#pragma once
#include <sextant/base/philox.hpp>

namespace sextant::tasks {

/// `count` distinct whole numbers of [0, below), ascending, every subset equally likely; row `row` of `stream`, whatever
/// was drawn before. Needs count <= below. Source: Ruoss et al., arXiv:2305.16843, section 3.1.
void draw_positions(Stream const& stream, std::uint64_t row, int count, int below, double* out);

/// Two runs of neighbours, the first from 0 on: its length is 1 .. (count + 1) / 2 and the gap before the second
/// 0 .. below - count, both equally likely. Source: Zhu et al., PoSE, arXiv:2309.10400, with the released code's choice of
/// where the first run begins.
void draw_skip(Stream const& stream, std::uint64_t row, int count, int below, double* out);

}  // namespace sextant::tasks
