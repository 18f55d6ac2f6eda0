// The two orders in which the rows of a projection to query or key are stored within a head.
#pragma once
#include <vector>

namespace sextant::pretrained {

/// Of the first rotary_dim rows of every head, brings row 2i to i and row 2i + 1 to i + rotary_dim / 2: channels that turn
/// together as neighbours become those that turn together in the half layout, with equal products of query and key.
///   values [heads * head_dim, width]
void neighbours_to_halves(std::vector<float>& values, std::size_t width, int head_dim, int rotary_dim);

}  // namespace sextant::pretrained
