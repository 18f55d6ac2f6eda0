// How long the sequences are that tokens belong to, for scalings that follow the length.
#pragma once
#include <sextant/base/kokkos.hpp>

#include <limits>

namespace sextant::encoding {

/// Length of padding, which belongs to no sequence.
inline constexpr double no_sequence = -std::numeric_limits<double>::infinity();

/// [batch, len]: tokens of each token's sequence (its row and document): the largest position + 1, so that a short row
/// or a packed document has the length that it has alone. position [batch or 1, len], document [batch, len] or empty.
View2<double> sequence_lengths(View2<double> const& position, View2<int> const& document, int batch);

}  // namespace sextant::encoding
