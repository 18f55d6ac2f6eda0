// Numbers as JSON has them: what does not exist, or is not finite, is null.
#pragma once
#include <sextant/statistics/sample.hpp>

#include <sextant/base/json.hpp>

#include <cmath>
#include <optional>

namespace sextant::report {

inline nlohmann::json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json();
}

/// [low, high]
inline nlohmann::json interval_or_null(std::optional<statistics::Interval> const& interval) {
  if (!interval) return {};
  return nlohmann::json::array({number_or_null(interval->low), number_or_null(interval->high)});
}

}  // namespace sextant::report
