// The numbers behind a form: frequencies and magnitude as the plugins make them, by Position::frequencies and no other way.
#pragma once
#include <sextant/dialect/form.hpp>

namespace sextant::dialect {

/// Radians per token of each pair, and what multiplies cos and sin, in a row of `length` tokens. Where the width of the
/// head is not known, that of the rotation stands in, or that of the factor lists, or 128 channels.
encoding::Position::Frequencies ladder(Kind const& kind, Form const& form, Registry const& registry, double length);
int width_of(Kind const& kind, Form const& form);

/// Largest |a / b - 1| over pairs and the magnitude; pairs that stand still must stand still in both.
double largest_difference(encoding::Position::Frequencies const& a, encoding::Position::Frequencies const& b);

/// What multiplies cos and sin under one scaling alone.
double magnitude(Choice const& scaling, Kind const& kind, Form const& form, Registry const& registry);

/// To fourteen digits: what a reciprocal or a quotient of factors is written and read as, so that 1 / (1 / x) is x again.
double rounded(double value);
/// 1000000 rather than 1e+06; reads back to the same bits.
std::string plain_number(double value);

/// Lengths at which the two sides are compared: within the trained length, at it, past it, at the reach.
std::vector<double> lengths_of(Form const& form);

}  // namespace sextant::dialect
