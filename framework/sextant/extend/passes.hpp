// One pass of a model over one text.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// The subject's weights under an arm, for sequences of up to `length` tokens.
run::Network seen_by(Work const& work, Arm const& arm, int length);

/// Loss in nat of tokens[1], tokens[2], ...: one less than there are tokens.
std::vector<double> losses(Exec const& exec, run::Network& network, std::span<std::int32_t const> tokens);

/// Mean of values[from, to).
double mean(std::vector<double> const& values, std::size_t from, std::size_t to);

/// Means of each of several samples, and over them with its standard error (NaN for one).
struct Estimate {
  double value = 0, error = 0;
};
Estimate estimate(std::vector<double> const& samples);

}  // namespace sextant::extend
