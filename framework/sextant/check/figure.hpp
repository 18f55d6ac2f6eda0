// How tables of checks write an error and its bound.
#pragma once
#include <fmt/format.h>

#include <string>

namespace sextant::check {

/// "0", "1.25e-13", "inf" or "nan".
inline std::string figure(double value) { return value == 0 ? "0" : fmt::format("{:.2e}", value); }

}  // namespace sextant::check
